"""Record what Estimators that tf.estimator 2.15.1 makes of Keras models give: losses, metrics, predictions, names.

Run from the root of the project with an environment of tensorflow 2.15.1:
`python -m tests.oracle.record_model_to_estimator`. Writes model_to_estimator.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.parity import recordings
from tests.parity.keras_scenes import SCENES

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        results = {
            name: run(tf.keras.estimator.model_to_estimator, Path(folder) / str(number))
            for number, (name, run) in enumerate(SCENES.items())
        }
    recordings.save_json("model_to_estimator", tf.__version__, {"scenes": results})
