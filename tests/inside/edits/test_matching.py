"""What cannot be changed on its way is told before any step: wrong paths, modes, shapes, types and units."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.inside.edits import models

import lightwell as lw

_WRONG_IN_EVALUATION = [
    (
        lw.zero("layers/dens"),
        r"lw.zero\('layers/dens'\): 'layers/dens' names nothing in this model. Did you mean 'laye",
    ),
    (lw.zero("layers/dense/inputs"), "names nothing in this model. Did you mean 'layers/dense/input'"),
    (lw.zero("weights/dense/kernel"), r"weights are changed at rest, not on their way: with est.edit\(\)"),
    (lw.zero("predictions/probabilities"), "predictions are what the model gives; edit the layer that they are made"),
    (lw.zero("metrics/accuracy"), "metrics are what an evaluation gives"),
    (lw.zero("Softmax"), "'tensors/Softmax:0' cannot be changed on its way: a tensor of the graph is read only"),
    (
        lw.zero("gradients/*"),
        "is changed on its way to the optimizer, and only training has one. Give the edit to train",
    ),
    (lw.zero(lw.layers.Conv2D), "no layer of this model is a Conv2D"),
    (lw.zero(lambda entry: False), "the predicate <lambda> chose none of the paths"),
    (lw.zero("layers/dense", unit=8), "'layers/dense' has 8 units, 0 to 7: there is no unit 8"),
    (lw.zero("layers/dense", channel=-9), "has 8 channels, 0 to 7: there is no channel -9"),
    (lw.zero("layers/dense", unit=(1, 2)), r"of shape 8, so a unit is named by one index, unit=0; got \(1, 2\)"),
    (lw.zero("loss", channel=0), "has no channels that can be counted: it is float32 scalar. Use where="),
    (
        lw.zero("layers/dense", where=np.ones(8)),
        "where= must be a boolean array or a function, got an array of float64",
    ),
    (lw.zero("layers/dense", where=np.ones(5, bool)), "where= has shape 5, which cannot be broadcast to it"),
    (lw.zero("layers/dense", where=tf.nn.relu), "where=, which must give a boolean tensor and gave float32. Compare"),
    (lw.add("layers/dense", np.ones(3)), r"is float32 \?×8; vector= has shape 3, which cannot be broadcast to 8"),
    (lw.add("labels", 0.5), r"'labels' is int32 \?; vector= is an array of float64. Cast it to int32"),
    (lw.noise("labels", 1.0), "noise is added to floating-point numbers only"),
    (lw.zero("features/city"), "holds string, and this edit needs numbers. Use lw.replace or lw.apply"),
    (lw.replace("layers/dense", np.ones([4, 3])), "has 8 for each example; the rows of the array have 3"),
    (
        lw.replace("layers/dense", {"dense": 1}),
        "the value must be an array, or a store that has one under 'layers/dense'",
    ),
    (lw.clip("layers/dense", global_norm=1.0), "global_norm= is for values that pass together, the gradients"),
    (lw.apply("layers/dense", lambda x: None), "the function gave None for 'layers/dense'. Return the value"),
    (
        lw.apply("layers/dense", lambda x: x[:, :3]),
        r"evaluate\(edits=...\): lw.apply\(.* it returned Tensor float32 \(None",
    ),
    (
        lw.apply("layers/dense", lambda x: lw.layers.dense(x, 8)),
        "makes variables at 'layers/dense', which no checkpoint",
    ),
]


@pytest.mark.parametrize(
    ("edit", "text"), _WRONG_IN_EVALUATION, ids=lambda one: repr(one) if not isinstance(one, str) else ""
)
def test_told_in_evaluation(trained: lw.Estimator, edit: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text) as told:
        trained.evaluate(models.once, edits=[edit])
    assert str(told.value).startswith("evaluate(edits=...): lw.") or "lw.replace" in str(told.value)


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (
            lw.zero("labels"),
            r"predict\(edits=...\): lw.zero\('labels'\): there is no 'labels' in this mode: predict\(\) drops",
        ),
        (lw.scale("loss", 2.0), "there is no 'loss' in this mode: prediction computes no loss"),
        (lw.clip("gradients/*", norm=1.0), "only training has one"),
    ],
)
def test_told_in_prediction(trained: lw.Estimator, edit: Any, text: str) -> None:
    with pytest.raises(lw.errors.PathError, match=text):
        next(trained.predict(models.once, edits=[edit]))


def test_told_in_training_before_anything_is_written(tmp_path: Path) -> None:
    est = models.estimator(models.mlp(), tmp_path / "new")
    with pytest.raises(
        lw.errors.PathError, match=r"'gradients/weights/dens/kernel'.*Did you mean 'gradients/weights/dense"
    ):
        est.train(models.data, steps=1, edits=[lw.zero("gradients/weights/dens/kernel")])
    with pytest.raises(lw.errors.PathError, match="can be read, but not changed: the gradients of weights are"):
        est.train(models.data, steps=1, edits=[lw.zero("gradients/layers/dense")])
    with pytest.raises(lw.errors.UsageError, match="a NumPy function, which has no gradient: what stands before it"):
        est.train(models.data, steps=1, edits=[lw.apply("layers/dense", lambda x: np.tanh(x))])
    assert est.latest_checkpoint() is None


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: lw.zero("dense", unit=1, channel=2),
            "unit and channel say the same thing in two ways. Give one of them",
        ),
        (lambda: lw.scale("dense", "2"), "lw.scale: factor must be a number or an array of numbers, got '2'"),
        (lambda: lw.replace("dense", None), "lw.replace: the value must be an array or a store of captured values"),
        (lambda: lw.clip("gradients/*"), r"give exactly one limit: norm=, global_norm= or value=; got none"),
        (lambda: lw.clip("gradients/*", norm=1.0, value=1.0), r"exactly one limit.*got \['norm', 'value'\]"),
        (lambda: lw.noise("dense", -0.1), "lw.noise: std is a standard deviation, from 0 on; got -0.1"),
        (lambda: lw.clip("gradients/*", norm=0), "a limit must be a number above zero"),
        (lambda: lw.apply("dense", 3), "lw.apply: fn must be a function of a tensor, got int 3"),
    ],
)
def test_told_where_an_edit_is_made(make: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError), match=text):
        make()


def test_what_is_no_edit(trained: lw.Estimator) -> None:
    with pytest.raises(TypeError, match=r"evaluate\(edits=...\): an edit is made by lw.zero.*applied with lw.apply"):
        trained.evaluate(models.once, edits=[lambda x: x])
    with pytest.raises(TypeError, match=r"predict\(edits=...\) takes a list of edits"):
        trained.predict(models.once, edits="layers/dense")
    with pytest.raises(
        TypeError, match="a selection is a path, a glob, a layer class, a predicate or a list of those, got 3"
    ):
        trained.evaluate(models.once, edits=[lw.zero(3)])
    with pytest.raises(TypeError, match=r"channel= takes whole numbers, got True. A boolean array belongs in where="):
        trained.evaluate(models.once, edits=[lw.zero("dense", channel=[True])])


def test_rows_that_run_out(trained: lw.Estimator) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        trained.evaluate(models.once, edits=[lw.replace("layers/dense", np.ones([7, 8]))])
    text = (
        r"lw.replace\('layers/dense', .*\): the array has 7 rows, and the data set has more examples\.\nIt happened in "
    )
    assert re.fullmatch(text + r"evaluation, batch \d+\.", str(caught.value))
