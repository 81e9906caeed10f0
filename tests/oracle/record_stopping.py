"""Record where the early stopping hooks of tf.estimator 2.15.1 stop, and what InMemoryEvaluatorHook calls and writes.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_stopping`.
Writes stopping.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.parity import recordings
from tests.parity.stopping_scenes import SCENES

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        results = {
            name: run(tf.estimator, Path(folder) / str(number)) for number, (name, run) in enumerate(SCENES.items())
        }
    recordings.save_json("stopping", tf.__version__, {"scenes": results})
