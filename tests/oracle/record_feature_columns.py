"""Records what feature columns give on TensorFlow 2.15.1: numbers, gradients, variable names, and a trained model_dir.

Run from the repository's root with an environment that has tensorflow 2.15.1:

    python -m tests.oracle.record_feature_columns

Writes `feature_columns.npz` (numbers), `feature_columns.json` (names, shapes, refusals),
`feature_columns_resume.json` and `feature_columns_model_dir/` into `tests/data/oracle-2.15.1/`.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import tempfile
import types
from typing import Any

import numpy as np
import tensorflow as tf
from tests.model.feature_columns import cases, programs, trips

v1 = tf.compat.v1
TARGET = pathlib.Path(__file__).parents[1] / "data" / "oracle-2.15.1"
LAYERS = types.SimpleNamespace(
    DenseFeatures=tf.keras.layers.DenseFeatures, SequenceFeatures=tf.keras.experimental.SequenceFeatures
)


def record_columns() -> tuple[dict[str, Any], dict[str, Any]]:
    numbers, facts = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = cases.write_checkpoint(folder)
        for way in cases.WAYS:
            with tf.Graph().as_default(), cases.open_session() as session:
                made = cases.build(way, checkpoint, LAYERS)
                cases.start(session, v1.global_variables())
                values = session.run(cases.fetches(made))
                numbers |= {f"{way}|{key}": value for key, value in values.items()}
                facts[way] = {case: cases.facts(one, v1.trainable_variables()) for case, one in made.items()}
    return numbers, facts


def record_model_dir() -> dict[str, Any]:
    target = TARGET / "feature_columns_model_dir"
    with tempfile.TemporaryDirectory() as folder:
        fresh = trips.train(tf.estimator, folder, steps=20)
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for name in ("model.ckpt-20.index", "model.ckpt-20.data-00000-of-00001"):
            shutil.copy(pathlib.Path(folder) / name, target)
        (target / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-20"\n')
        return {"fresh": fresh, **trips.resume(tf.estimator, folder)}


def main() -> None:
    numbers, facts = record_columns()
    named = {**programs.NAMING, **programs.REFUSED}
    outcomes = {name: programs.outcome(program, LAYERS) for name, program in named.items()}
    with tf.Graph().as_default():
        specs = cases.parse_specs()
    content = {"tensorflow": tf.__version__, "columns": facts, "programs": outcomes, "parse_specs": specs}
    (TARGET / "feature_columns.json").write_text(json.dumps(content, indent=1) + "\n")
    np.savez_compressed(TARGET / "feature_columns.npz", tensorflow=np.array(tf.__version__), **numbers)
    resumed = {"tensorflow": tf.__version__, **record_model_dir()}
    (TARGET / "feature_columns_resume.json").write_text(json.dumps(resumed, indent=1) + "\n")


if __name__ == "__main__":
    main()
