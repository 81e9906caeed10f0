"""What each kind of edit makes of a value, in numbers that can be followed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.inside.edits import models

import lightwell as lw

ROWS = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], np.float32)


@pytest.fixture(scope="module")
def predictor(tmp_path_factory: Any) -> Iterator[Any]:
    """Predicts what it is given, `x` of three numbers, `image` of 2×2 and two channels, and a word."""

    def model_fn(features: Any, mode: str) -> lw.EstimatorSpec:
        return lw.EstimatorSpec(mode, {name: tf.identity(value) for name, value in features.items()})

    est = models.estimator(model_fn, tmp_path_factory.mktemp("same"))
    inputs = {
        "x": tf.TensorSpec([None, 3]),
        "image": tf.TensorSpec([None, 2, 2, 2]),
        "word": tf.TensorSpec([None], tf.string),
    }
    with est.predictor(inputs) as p:
        yield lambda *edits: p(
            {"x": ROWS, "image": np.ones([2, 2, 2, 2]), "word": np.array([b"a", b"b"])}, edits=list(edits)
        )


def x_of(predictor: Any, *edits: Any) -> Any:
    return predictor(*edits)["x"].tolist()


def test_zero(predictor: Any) -> None:
    assert x_of(predictor, lw.zero("features/x")) == [[0.0] * 3] * 2
    assert x_of(predictor, lw.zero("features/x", unit=1)) == [[1.0, 0.0, 3.0], [4.0, 0.0, -6.0]]
    assert x_of(predictor, lw.zero("features/x", unit=[0, -1])) == [[0.0, -2.0, 0.0], [0.0, 5.0, 0.0]]
    assert x_of(predictor, lw.zero("features/x", where=np.array([True, False, True]))) == [[0, -2, 0], [0, 5, 0]]
    assert x_of(predictor, lw.zero("features/x", where=lambda x: x < 0)) == [[1, 0, 3], [4, 5, 0]]


def test_parts_of_a_value_with_several_dimensions(predictor: Any) -> None:
    image = predictor(lw.zero("features/image", channel=1))["image"]
    assert image[..., 1].max() == 0.0
    assert image[..., 0].min() == 1.0
    image = predictor(lw.zero("features/image", unit=(0, 1, 0)))["image"]
    assert image[:, 0, 1, 0].tolist() == [0.0, 0.0]
    assert image.sum() == 14.0
    image = predictor(lw.zero("features/image", unit=[(0, 1, 0), (1, 1, 1)]))["image"]
    assert image.sum() == 12.0
    assert image[:, 1, 1, 1].max() == 0.0


def test_scale_and_add(predictor: Any) -> None:
    assert x_of(predictor, lw.scale("features/x", 2.0)) == (2 * ROWS).tolist()
    assert x_of(predictor, lw.scale("features/x", [1, 2, 3], unit=[1, 2])) == [[1, -4, 9], [4, 10, -18]]
    assert x_of(predictor, lw.add("features/x", np.array([1.0, 0.0, -1.0]))) == [[2, -2, 2], [5, 5, -7]]
    assert x_of(predictor, lw.add("features/x", 1, channel=0)) == [[2, -2, 3], [5, 5, -6]]


def test_replace(predictor: Any) -> None:
    assert x_of(predictor, lw.replace("features/x", 7.0)) == [[7.0] * 3] * 2
    assert x_of(predictor, lw.replace("features/x", [1.0, 2.0, 3.0])) == [[1.0, 2.0, 3.0]] * 2
    assert x_of(predictor, lw.replace("features/x", ROWS[::-1])) == ROWS[::-1].tolist(), "a row for each example"
    assert x_of(predictor, lw.replace("features/x", {"features/x": ROWS[::-1]})) == ROWS[::-1].tolist(), "a store"
    assert x_of(predictor, lw.replace("features/x", 0, unit=2)) == [[1, -2, 0], [4, 5, 0]]
    assert predictor(lw.replace("features/word", "c"))["word"].tolist() == [b"c", b"c"]


def test_clip(predictor: Any) -> None:
    assert x_of(predictor, lw.clip("features/x", value=2.5)) == [[1, -2, 2.5], [2.5, 2.5, -2.5]]
    norm = np.linalg.norm(x_of(predictor, lw.clip("features/x", norm=1.0)))
    assert norm == pytest.approx(1.0)


def test_noise_is_drawn_anew_and_can_be_seeded(predictor: Any) -> None:
    first, second = (np.array(x_of(predictor, lw.noise("features/x", 0.5))) for _ in range(2))
    assert 0.0 < np.abs(first - ROWS).max() < 5.0
    assert not np.array_equal(first, second), "each step draws anew"
    only = np.array(x_of(predictor, lw.noise("features/x", 0.5, seed=1, unit=0))) - ROWS
    assert only[:, 1:].tolist() == [[0.0, 0.0]] * 2
    assert np.all(only[:, 0] != 0.0)


def test_apply(predictor: Any, log: Any) -> None:
    assert x_of(predictor, lw.apply("features/x", tf.nn.relu)) == [[1, 0, 3], [4, 5, 0]]
    assert x_of(predictor, lw.apply("features/x", lambda x: np.sort(x, axis=1))) == [[-2, 1, 3], [-6, 4, 5]]
    (line,) = log.having("runs in Python for each step, which is slow")
    assert line.startswith("WARNING predictor(edits=...): lw.apply('features/x', <lambda>)")

    def set_in_place(x: Any) -> Any:
        x[0] = 0.0
        return x

    assert x_of(predictor, lw.apply("features/x", set_in_place)) == [[0, 0, 0], [4, 5, -6]]
    assert x_of(predictor, lw.apply("features/x", lambda x: x + 1, numpy=True)) == (ROWS + 1).tolist()


def test_edits_apply_in_the_order_in_which_they_are_given(predictor: Any) -> None:
    double, more = lw.scale("features/x", 2.0), lw.add("features/x", 1.0)
    assert x_of(predictor, double, more) == (ROWS * 2 + 1).tolist()
    assert x_of(predictor, more, double) == ((ROWS + 1) * 2).tolist()


def test_values_are_chosen_in_the_language_of_taps(predictor: Any, trained: lw.Estimator) -> None:
    numbers = ["features/x", "features/image"]
    assert predictor(lw.zero(numbers))["image"].max() == 0.0
    assert predictor(lw.zero("features/*e*"))["image"].max() == 0.0
    assert predictor(lw.zero(lambda entry: entry.path.endswith("x")))["x"].max() == 0.0
    paths = ["layers/dense_1", "layers/dense"]
    for selection in ("dense", "layers/dense", "layers/dense:0", lambda entry: entry.path == "layers/dense"):
        row = next(trained.predict(models.once, taps=paths, edits=[lw.zero(selection)]))
        assert not row["layers/dense"].any()
        assert row["layers/dense_1"].any()
    row = next(trained.predict(models.once, taps=paths, edits=[lw.zero(lw.layers.Dense)]))
    assert not row["layers/dense"].any()
    assert not row["layers/dense_1"].any()


def test_edits_say_what_they_do() -> None:
    assert repr(lw.zero("layers/dense", unit=3)) == "lw.zero('layers/dense', unit=3)"
    assert repr(lw.scale("layers/*", 0.5, channel=[1, 2])) == "lw.scale('layers/*', 0.5, channel=[1, 2])"
    assert repr(lw.add("dense", np.ones([3]))) == "lw.add('dense', <array 3 float64>)"
    assert repr(lw.replace("dense", ROWS)) == "lw.replace('dense', <array 2×3 float32>)"
    assert repr(lw.noise("features/x", 0.1, seed=2)) == "lw.noise('features/x', 0.1, seed=2)"
    assert repr(lw.clip("gradients/*", norm=1.0)) == "lw.clip('gradients/*', norm=1.0)"
    assert repr(lw.apply("loss", tf.nn.relu)) == "lw.apply('loss', relu)"
    with pytest.raises(AttributeError):
        lw.zero("layers/dense").path = "loss"  # type: ignore[misc]
