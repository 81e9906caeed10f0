"""Record a SavedModel of all modes that tf.estimator 2.15.1 exports, and what its Estimator gives before and after.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_reopened`.
Writes reopened.json into tests/data/oracle-2.15.1/, and the SavedModel reopened_model there.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import tensorflow as tf
from tests.estimator.reopened import models
from tests.parity import recordings

if __name__ == "__main__":
    lib = tf.estimator
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = Path(folder) / "words.txt"
        vocabulary.write_text("a\nb\nc\n")
        config = lib.RunConfig(tf_random_seed=1)
        made = lib.Estimator(models.model(lib, tf.compat.v1.layers, vocabulary), f"{folder}/model", config)
        made.train(models.for_ever, steps=20)
        kept = recordings.FOLDER / "reopened_model"
        shutil.rmtree(kept, ignore_errors=True)
        written = made.experimental_export_all_saved_models(f"{folder}/out", models.receivers(lib))
        shutil.copytree(written.decode(), kept)
        results = {"evaluated": models.plain(made.evaluate(models.once))}
        rows = list(made.predict(models.once))
        results["probabilities"] = [row["probabilities"].tolist() for row in rows]
        results["class"] = [int(row["class"]) for row in rows]
        made.train(models.for_ever, steps=5)
        results["evaluated_after_5_more"] = models.plain(made.evaluate(models.once))
        recordings.save_json("reopened", tf.__version__, results)
