"""What is special about each kind of value, as users meet it: what a path means there, and why one means nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.inside.paths import models

import lightwell as lw
from lightwell.model.layers.record import LayerBook

v1 = tf.compat.v1


def _watched(made: lw.Estimator, *paths: Any, input_fn: Any = models.data) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []
    made.train(input_fn, steps=2, hooks=[lw.Watch(*paths, every=1, do=lambda step: seen.append(dict(step)))])
    return seen


def _told(made: lw.Estimator, *paths: Any) -> str:
    with pytest.raises(lw.errors.PathError) as caught:
        _watched(made, *paths)
    return str(caught.value)


def test_a_glob_is_one_even_where_a_feature_has_its_name(tmp_path: Path) -> None:
    def input_fn() -> Any:
        x = np.arange(4, dtype=np.float32)
        return tf.data.Dataset.from_tensor_slices(({"*": x, "x": x, "x?": x}, x)).batch(2)

    made = tiny.estimator(tmp_path)
    (row, *_) = made.predict(input_fn, taps="features/*")
    assert {"features/*", "features/x", "features/x?"} <= row.keys()
    (row, *_) = made.predict(input_fn, taps="features/x?", predict_keys=[])
    assert list(row) == ["features/x?"]


def test_a_glob_means_outputs_unless_it_asks_for_inputs(tmp_path: Path) -> None:
    made = models.estimator(models.columns_net, tmp_path)

    def chosen(glob: str) -> set[str]:
        (batch, *_) = made.predict(models.once, predict_keys=[], taps=glob, yield_single_examples=False)
        return {path.removeprefix("layers/") for path in batch}

    outputs = {"input_layer", "input_layer/age", "input_layer/city_indicator", "input_layer/city_embedding"}
    assert chosen("layers/input_layer*") == outputs
    assert chosen("layers/input*") == outputs
    assert chosen("layers/dense*/input") == {"dense/input", "dense_1/input"}
    assert chosen("layers/dense*/input*") == {"dense/input", "dense_1/input"}
    assert chosen("layers/*") == {*outputs, "dense", "dense_1"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("gradients/features/count", "'features/count' holds int64, and only floating-point numbers have a gradient."),
        ("gradients/features/c*", "'features/count' holds int64, and only floating-point numbers have a gradient."),
        ("grads/features/words", "'features/words' is a SparseTensor, and only dense tensors have a gradient here."),
        ("gradients/weights/batch_normalization/moving_mean", "is not trained, so it has no gradient."),
        ("gradients/labels", "gradients are of weights, layers and features, and 'labels' is none of these."),
    ],
)
def test_a_value_without_a_gradient_says_why(path: str, text: str, tmp_path: Path) -> None:
    def input_fn() -> Any:
        words = tf.sparse.from_dense([[1.0], [2.0]])
        features = {"x": np.ones([2, 3], np.float32), "count": np.ones([2], np.int64), "words": words}
        return tf.data.Dataset.from_tensor_slices((features, np.ones([2, 1], np.float32))).batch(2).repeat()

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
        out = lw.layers.dense(keras.layers.BatchNormalization()(features["x"]), 1)
        loss = tf.reduce_mean(tf.square(out - labels))
        step = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, out, loss, step)

    made = models.estimator(model_fn, tmp_path)
    with pytest.raises(lw.errors.PathError) as caught:
        _watched(made, path, input_fn=input_fn)
    assert f": {path!r} cannot be read: " in str(caught.value)
    assert str(caught.value).endswith(text)


def _beside(features: Mapping[str, Any], labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
    lw.layers.dense(features["x"][:, tf.newaxis], 2, name="beside")
    return tiny.linear(features, labels, mode, params)


def test_what_the_loss_does_not_depend_on_has_no_gradient(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path, _beside, params={})
    for path in ("gradients/layers/beside", "gradients/layers/*"):
        with pytest.raises(lw.errors.PathError, match="the loss does not depend on 'layers/beside', so 'gradients/lay"):
            _watched(made, "loss", path, input_fn=tiny.data)
    (seen, *_) = _watched(made, "gradients/weights/*", input_fn=tiny.data)
    assert list(seen) == ["gradients/weights/w", "gradients/weights/b"]


def _inside(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
    x = lw.layers.dense(features["x"], 4, name="before")
    x = tf.cond(tf.reduce_sum(x) > 0, lambda: lw.layers.dense(x, 4, name="inner"), lambda: x)
    return models.finished(lw.layers.dense(x, 10, name="after"), labels, mode)


@pytest.mark.parametrize(
    "path", ["layers/inner", "inner", "layers/inn*", "gradients/layers/inner", "layer/inner/input"]
)
def test_a_layer_that_no_session_can_reach_says_why(path: str, tmp_path: Path, monkeypatch: Any) -> None:
    # Whoever writes the book of layers knows why; here it is enough that its word is handed on.
    if not hasattr(LayerBook, "hidden"):
        hidden = [("inner", "is built inside tf.cond; return the value from there and read what comes out")]
        monkeypatch.setattr(LayerBook, "hidden", hidden, raising=False)
    text = _told(models.estimator(_inside, tmp_path), path)
    assert f": {path!r} cannot be read: the layer 'inner' is built inside " in text
    assert "tf.cond" in text
    assert "return the value from there" in text
    assert "Did you mean 'layers/before'" in _told(models.estimator(_inside, tmp_path), "layers/befor")


def test_what_is_measured_is_no_tap(trained: lw.Estimator) -> None:
    text = r"\(taps=...\): 'timing/step' is measured, not computed; read it with a Watch"
    for taps in ("timing/step", ["timing/*"], [lw.stats("timing/step")]):
        with pytest.raises(lw.errors.UsageError, match=f"predict{text}"):
            list(trained.predict(models.once, taps=taps))
    with trained.predictor(models.once) as predict, pytest.raises(lw.errors.UsageError, match=f"predictor{text}"):
        predict({"x": models.IMAGES, "age": models.AGES, "city": models.CITIES}, taps=["timing/step"])


def test_of_a_set_what_can_be_tapped_is(trained: lw.Estimator) -> None:
    result = trained.evaluate(models.once, taps=[lambda entry: entry.path in ("loss", "metrics/accuracy")])
    assert list(result.taps) == ["loss"]


def test_what_is_measured_or_read_late_can_be_reduced(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path)
    (seen, *_) = _watched(made, lw.stats("timing/*", "updates/*"), input_fn=tiny.data)
    assert seen["timing/step"].mean > 0
    assert seen["timing/step"].std == 0
    assert seen["timing/examples_per_second"].mean == pytest.approx(4 / seen["timing/step"].mean)
    assert seen["updates/weights/w"].norm > 0
    metrics: list[Any] = []
    made.evaluate(tiny.once, hooks=[lw.Watch(lw.stats("metrics/mae"), every=1, do=lambda s: metrics.append(s["mae"]))])
    assert metrics[0].mean == metrics[0].max > 0


def test_what_is_no_selection_is_refused_before_the_first_row(trained: lw.Estimator) -> None:
    with pytest.raises(lw.errors.WrongType, match=r"predict\(taps=...\): a selection is a path, a glob.* got 3"):
        next(trained.predict(models.once, taps=3))


def test_a_number_is_no_name(trained: lw.Estimator) -> None:
    row = next(trained.predict(models.once, taps="hidden"))
    with pytest.raises(lw.errors.PathError, match="This row has no 3; it has 'probabilities', 'classes', 'hidden'"):
        row[3]
