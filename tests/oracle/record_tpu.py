"""Record what the programs of tests/estimator/on_tpu/scenes.py do in tf.estimator 2.15.1.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_tpu`.
Writes tpu.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.estimator.on_tpu.scenes import SCENES
from tests.parity import recordings

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        results = {
            name: run(tf.compat.v1.estimator, Path(folder) / str(number))
            for number, (name, run) in enumerate(SCENES.items())
        }
    recordings.save_json("tpu", tf.__version__, {"scenes": results})
