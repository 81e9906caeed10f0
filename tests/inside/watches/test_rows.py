"""`predict(taps=...)`: tapped values ride with each row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.inside.paths import models
from tests.inside.paths.models import AGES, IMAGES

import lightwell as lw

v1 = tf.compat.v1


def test_values_are_cut_by_example_and_the_rest_belongs_to_the_batch(trained: lw.Estimator) -> None:
    taps = ["features/age", "layers/rnn/lstm_cell[0]", "weights/hidden/kernel", "global_step", lw.stats("layers/dense")]
    rows = list(trained.predict(models.once, taps=taps))
    assert len(rows) == 24
    assert set(rows[0]) == {"probabilities", "classes", "features/age", "layers/rnn/lstm_cell[0]"}
    np.testing.assert_array_equal([row["features/age"] for row in rows], AGES)
    assert rows[0]["layers/rnn/lstm_cell[0]"].shape == (3, 4)
    assert set(rows[0].batch) == {"weights/hidden/kernel", "global_step", "layers/dense"}
    np.testing.assert_array_equal(rows[0]["weights/hidden/kernel"], trained.weights["hidden/kernel"])
    assert rows[3]["global_step"] == 4
    assert rows[8].batch is not rows[7].batch
    assert rows[8]["layers/dense"].std > 0


def test_whole_batches(trained: lw.Estimator) -> None:
    batches = list(trained.predict(models.once, taps="layers/hidden", yield_single_examples=False))
    assert [batch["layers/hidden"].shape for batch in batches] == [(8, 5)] * 3
    rows = list(trained.predict(models.once, taps="layers/hidden"))
    np.testing.assert_array_equal(
        np.concatenate([b["layers/hidden"] for b in batches]), [r["layers/hidden"] for r in rows]
    )


def test_names_are_those_that_were_asked_for(trained: lw.Estimator) -> None:
    row = next(trained.predict(models.once, taps=["hidden", "softmax_tensor", "layers/shared", "layers/conv*"]))
    assert {"hidden", "softmax_tensor", "layers/shared", "layers/conv2d", "layers/conv2d_1"} <= row.keys()
    np.testing.assert_array_equal(row["softmax_tensor"], row["probabilities"])


def test_only_taps_and_nothing_past_them(tmp_path: Path) -> None:
    ran: list[int] = []

    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        hidden = lw.layers.dense(features["x"], 3, name="early")
        late = tf.numpy_function(lambda x: ran.append(len(x)) or x, [hidden], tf.float32)
        late.set_shape(hidden.shape)
        return models.finished(lw.layers.dense(late, 10), labels, mode)

    made = models.estimator(model_fn, tmp_path)
    made.train(models.data, steps=1)
    ran.clear()
    rows = list(made.predict(models.once, predict_keys=[], taps=["layers/early"]))
    assert [list(row) for row in rows] == [["layers/early"]] * 24
    assert ran == []
    list(made.predict(models.once, taps=["layers/early"]))
    assert ran == [8, 8, 8]


def test_predictions_that_are_a_single_tensor(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
        spec = tiny.linear(features, labels, mode, params)
        return spec._replace(predictions=tf.identity(features["x"]))

    made = tiny.trained(tmp_path, model_fn=model_fn, params={})
    rows = list(made.predict(tiny.once, taps=["features/x"]))
    assert [row["predictions"] for row in rows] == [row["features/x"] for row in rows] == tiny.X.tolist()


def test_sparse_and_ragged_values_are_cut_too(tmp_path: Path) -> None:
    def input_fn() -> Any:
        features = {
            "sparse": tf.sparse.from_dense([[1, 0], [0, 2], [3, 4]]),
            "ragged": tf.ragged.constant([[1.0], [], [2.0, 3.0]]),
            "deep": tf.ragged.constant([[[1], [2, 3]], [], [[4]]]),
            "x": np.ones([3], np.float32),
        }
        return tf.data.Dataset.from_tensor_slices(features).batch(3)

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
        return tiny.linear({"x": features["x"]}, labels, mode, params)

    rows = list(tiny.estimator(tmp_path, model_fn, params={}).predict(input_fn, taps="features"))
    assert [row["features/ragged"].tolist() for row in rows] == [[1.0], [], [2.0, 3.0]]
    assert [row["features/deep"] for row in rows] == [[[1], [2, 3]], [], [[4]]]
    assert [row["features/sparse"].values.tolist() for row in rows] == [[1], [2], [3, 4]]
    assert rows[2]["features/sparse"].indices.tolist() == [[0], [1]]
    assert rows[2]["features/sparse"].dense_shape.tolist() == [2]


def test_a_key_that_a_row_has_not_is_answered_with_those_it_has(trained: lw.Estimator) -> None:
    row = next(trained.predict(models.once, taps=["layers/hidden"]))
    with pytest.raises(KeyError, match="This row has no 'layers/hiden'; it has 'layers/hidden'"):
        row["layers/hiden"]
    assert "layers/hiden" not in row


def test_a_wrong_tap_says_so_before_the_first_row(trained: lw.Estimator) -> None:
    with pytest.raises(lw.errors.PathError, match=r"predict\(taps=...\): there is no 'labels' in prediction"):
        next(trained.predict(models.once, taps=["labels"]))


def test_taps_can_be_changed_from_call_to_call_and_interleaved(trained: lw.Estimator) -> None:
    first = trained.predict(models.once, taps=["layers/hidden"])
    second = trained.predict(models.once, taps=[lw.layers.Conv2D, lambda entry: entry.path == "features/age"])
    for index in range(24):
        one, other = next(first), next(second)
        assert other["features/age"] == AGES[index]
        assert set(one) - set(other) == {"layers/hidden"}
        assert set(other) - set(one) == {"features/age", "layers/conv2d", "layers/conv2d_1"}


def test_a_layers_output_over_all_the_data(trained: lw.Estimator) -> None:
    out = trained.layers["hidden"].output(models.once)
    assert out.shape == (24, 5)
    rows = [row["layers/hidden"] for row in trained.predict(models.once, taps=["layers/hidden"])]
    np.testing.assert_array_equal(out, rows)
    several = trained.layers["rnn/lstm_cell"].output(models.once)
    assert [part.shape for part in several] == [(24, 3, 4), (24, 4), (24, 4)]
    assert IMAGES.shape[0] == 24
