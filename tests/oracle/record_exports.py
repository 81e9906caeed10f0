"""Record what tf.estimator 2.15.1 exports, of what its receivers are made, and what it refuses.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_exports`.
Writes exports.json into tests/data/oracle-2.15.1/, and the SavedModel exported_model there.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import tensorflow as tf
from tests.parity import recordings
from tests.parity.export_scenes import SCENES, model, parsing, supervised, trained

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        results = {
            name: run(tf.estimator, Path(folder) / str(number)) for number, (name, run) in enumerate(SCENES.items())
        }
        kept = recordings.FOLDER / "exported_model"
        shutil.rmtree(kept, ignore_errors=True)
        made = trained(tf.estimator, Path(folder) / "kept", model(tf.estimator))
        receivers = {
            "infer": parsing(tf.estimator),
            "eval": supervised(tf.estimator),
            "train": supervised(tf.estimator),
        }
        shutil.copytree(made.experimental_export_all_saved_models(f"{folder}/out", receivers).decode(), kept)
    recordings.save_json("exports", tf.__version__, {"scenes": results})
