"""Record what a canned model comes to in tf.estimator 2.15.1 with the optimizers of Keras 2.

Run from the root of the project with an environment of tensorflow 2.15.1:
`python -m tests.oracle.record_old_optimizers`. Writes tests/data/oracle-2.15.1/old_optimizers.json.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.estimator.canned import old_optimizers
from tests.parity import recordings

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = {
            name: old_optimizers.trained(tf.estimator, tf.keras.optimizers, name, Path(folder) / name)
            for name in old_optimizers.OPTIMIZERS
        }
    recordings.save_json("old_optimizers", tf.__version__, {"variables": found})
