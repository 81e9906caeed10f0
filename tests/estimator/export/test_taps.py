"""`export_saved_model(taps=...)`: one more signature that returns values by path beside the predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.export import kinds

import lightwell as lw

v1 = tf.compat.v1


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> lw.Estimator:
    return kinds.trained("old_layers", tmp_path_factory.mktemp("taps"))


def signatures(made: lw.Estimator, folder: Path, **arguments: Any) -> Any:
    return tf.saved_model.load(made.export_saved_model(folder, **arguments).decode()).signatures


def test_the_signature_gives_what_predict_gives(made: lw.Estimator, tmp_path: Path) -> None:
    taps = ["layers/dense", "layers/batch_normalization/input", "features/x", "weights/dense/kernel"]
    loaded = signatures(made, tmp_path, taps=taps)
    assert sorted(loaded) == ["serving_default", "taps"]
    given = loaded["taps"](x=tf.constant(kinds.X), word=tf.constant(kinds.WORD))
    assert set(given) == {"output", *taps}
    rows = list(made.predict(kinds.once, taps=taps))
    for path in ("output", *taps[:3]):
        np.testing.assert_allclose(given[path], np.stack([row[path] for row in rows]), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(given["weights/dense/kernel"], rows[0].batch["weights/dense/kernel"])
    assert set(loaded["serving_default"](x=tf.constant(kinds.X), word=tf.constant(kinds.WORD))) == {"output"}


def test_globs_and_a_single_path(made: lw.Estimator, tmp_path: Path) -> None:
    given = signatures(made, tmp_path, taps="layers/*dense*")["taps"]
    assert set(given.structured_outputs) == {"output", "layers/dense", "layers/dense_1"}


def test_serialised_examples_and_alternatives_have_it_too(made: lw.Estimator, tmp_path: Path) -> None:
    def receiver_fn() -> Any:
        text = v1.placeholder(tf.string, [None], name="text")
        x = tf.reshape(tf.io.decode_raw(text, tf.float32), [-1, 4])
        word = tf.fill([tf.shape(x)[0]], "red")
        return lw.export.ServingInputReceiver({"x": x, "word": word}, text, {"numbers": {"x": x}})

    loaded = signatures(made, tmp_path, serving_input_receiver_fn=receiver_fn, taps=["layers/dense"])
    rows = [x.tobytes() for x in kinds.X]
    one, other = loaded["taps"](input=tf.constant(rows)), loaded["numbers:taps"](x=tf.constant(kinds.X))
    np.testing.assert_allclose(one["layers/dense"], other["layers/dense"])


def test_it_changes_nothing_else(made: lw.Estimator, tmp_path: Path) -> None:
    plain, tapped = made.export_saved_model(tmp_path), made.export_saved_model(tmp_path, taps="layers/dense")
    ops = []
    for folder in (plain, tapped):
        with tf.Graph().as_default() as graph, v1.Session() as session:
            v1.saved_model.load(session, ["serve"], folder.decode())
            ops.append({op.name for op in graph.get_operations() if not op.name.startswith("lightwell/")})
    assert ops[0] == ops[1]


def test_unknown_paths_and_what_cannot_be_served(made: lw.Estimator, tmp_path: Path) -> None:
    with pytest.raises(lw.errors.PathError, match=r"export_saved_model\(taps=...\).*layers/dens'.*layers/dense"):
        made.export_saved_model(tmp_path, taps=["layers/dens"])
    with pytest.raises(
        ValueError, match=r"stats\(.*\) is read in Python, and a signature gives tensors. Name the path"
    ):
        made.export_saved_model(tmp_path, taps=[lw.stats("layers/dense")])
    assert list(tmp_path.iterdir()) == []


def test_a_signature_of_that_name(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        output = lw.layers.dense(features["x"], 1)
        loss = tf.reduce_sum(output)
        named = {"serving_default": lw.export.PredictOutput(output), "taps": lw.export.PredictOutput(output)}
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return lw.EstimatorSpec(mode, output, loss, train_op, export_outputs=named)

    made = lw.Estimator(model_fn, str(tmp_path / "model"))
    made.train(kinds.data, steps=1)
    with pytest.raises(
        ValueError, match=r"export_outputs has a signature 'taps' already\. Rename that, or leave taps out"
    ):
        made.export_saved_model(tmp_path / "out", taps="layers/dense")
