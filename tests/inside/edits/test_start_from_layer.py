"""`predict(from_=...)`: values of a layer are given, and only what follows is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.inside.edits import models

import lightwell as lw


@pytest.fixture(scope="module")
def wide(tmp_path_factory: Any) -> lw.Estimator:
    """A model whose second layer needs a feature beside the first."""

    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        x = lw.layers.dense(features["x"], 5)
        spec = models.finished(lw.layers.dense(tf.concat([x, features["age"]], 1), 4), labels, mode)
        return spec._replace(predictions={**spec.predictions, "alone": tf.reduce_sum(x, axis=1)})

    return models.estimator(model_fn, tmp_path_factory.mktemp("wide")).train(models.data, steps=2)


def _probabilities(rows: Any) -> Any:
    return np.array([row["probabilities"] for row in rows])


def test_what_follows_is_the_same(trained: lw.Estimator) -> None:
    rows = list(trained.predict(models.once, taps=["layers/dense"]))
    hidden = np.array([row["layers/dense"] for row in rows])
    from_hidden = list(trained.predict(from_={"layers/dense": hidden}, taps=["layers/dense_1"]))
    np.testing.assert_allclose(_probabilities(from_hidden), _probabilities(rows), rtol=1e-6)
    assert from_hidden[0]["layers/dense_1"].shape == (6,)
    zeros = list(trained.predict(from_={"dense": np.zeros([300, 8])}))
    assert len(zeros) == 300, "in batches"
    assert len(np.unique(_probabilities(zeros), axis=0)) == 1
    edited = trained.predict(from_={"layers/dense": hidden}, edits=[lw.zero("layers/dense_1")])
    assert len(np.unique(_probabilities(edited), axis=0)) == 1


def test_a_second_call_has_its_own_arrays(trained: lw.Estimator) -> None:
    for value in (1.0, 2.0, 1.0):
        (row,) = trained.predict(from_={"layers/dense": np.full([1, 8], value)}, taps=["layers/dropout"])
        assert row["layers/dropout"].tolist() == [value] * 8


def test_features_that_are_still_needed(wide: lw.Estimator) -> None:
    hidden = np.array([row["layers/dense"] for row in wide.predict(models.once, taps=["layers/dense"])])
    with pytest.raises(
        ValueError, match=r"from 'layers/dense' alone .* they still need 'features/age'. Give an input_fn"
    ):
        next(wide.predict(from_={"layers/dense": hidden}))
    alone = [row["alone"] for row in wide.predict(from_={"layers/dense": hidden}, predict_keys=["alone"])]
    np.testing.assert_allclose(alone, hidden.sum(axis=1), rtol=1e-5)
    plain, moved = wide.predict(models.once), wide.predict(models.once, from_={"layers/dense": hidden[::-1]})
    assert not np.allclose(_probabilities(plain), _probabilities(moved)), "row by row beside the features"
    same = wide.predict(models.once, from_={"layers/dense": hidden})
    np.testing.assert_allclose(_probabilities(same), _probabilities(wide.predict(models.once)), rtol=1e-6)


@pytest.mark.parametrize(
    ("from_", "text"),
    [
        (
            {"layers/dens": np.ones([2, 8])},
            r"^predict: from_={'layers/dens': …}: 'layers/dens' names nothing in this model.*'layers/dense'",
        ),
        ({"layers/dense": np.ones([2, 3])}, r"'layers/dense' is float32 \?×8; the array has rows of shape 3"),
        (
            {"dense": np.ones([2, 8]), "dense_1": np.ones([3, 6])},
            r"one row for each example; their rows are \{'dense': 2, ",
        ),
        ({"dense": 1.0}, "their rows are {'dense': 'none'}"),
        ([np.ones([2, 8])], r"predict\(from_=...\) takes a dict of arrays by path"),
        ({"weights/dense/kernel": np.ones([36, 8])}, "weights are changed at rest"),
    ],
)
def test_told(trained: lw.Estimator, from_: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError), match=text):
        next(trained.predict(from_=from_))


def test_without_input_and_without_values(trained: lw.Estimator, tmp_path: Any) -> None:
    with pytest.raises(TypeError, match="input_fn must be a function"):
        trained.predict()
    with pytest.raises(ValueError, match="the structure of the input is not known"):
        next(models.estimator(models.mlp(), tmp_path).predict(from_={"dense": np.ones([1, 8])}))
