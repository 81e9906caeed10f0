"""Record what the verbs of tf.estimator 2.15.1 give back and log, and which variables a warm start reaches.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_results`.
Writes results.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.parity import recordings
from tests.parity.result_scenes import SCENES

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        results = {
            name: run(tf.estimator, Path(folder) / str(number)) for number, (name, run) in enumerate(SCENES.items())
        }
    recordings.save_json("results", tf.__version__, {"scenes": results})
