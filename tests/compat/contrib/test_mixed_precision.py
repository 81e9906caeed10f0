"""`tf.contrib.mixed_precision`: scales and weights step by step as TensorFlow 1.15.5 gave them."""

from __future__ import annotations

import math
from typing import Any

import pytest
import tensorflow as tf

from lightwell import tf1

v1 = tf.compat.v1
mixed = tf1.contrib.mixed_precision
NAN = math.nan


def _steps(manager: Any, gradients: list[float]) -> list[list[float]]:
    """Weight, global step and scale after each step."""
    with tf.Graph().as_default(), v1.Session() as session:
        weight = v1.get_variable("v", initializer=2.0)
        factor = v1.placeholder(tf.float32, [])
        scales = manager()
        optimizer = mixed.LossScaleOptimizer(v1.train.GradientDescentOptimizer(0.1), scales)
        step = v1.train.get_or_create_global_step()
        train_op = optimizer.minimize(weight * factor, global_step=step)
        assert [one.name for one in v1.trainable_variables()] == ["v:0"]
        session.run(v1.global_variables_initializer())
        rows = []
        for gradient in gradients:
            session.run(train_op, {factor: gradient})
            rows.append([float(value) for value in session.run([weight, step, scales.get_loss_scale()])])
        return rows


@pytest.mark.parametrize(
    ("arguments", "gradients", "recorded"),
    [
        # Two finite steps in a row make the scale grow, two others since its last change make it shrink.
        (
            (16.0, 2, 2, 2.0, 0.8),
            [1.0, 1.0, NAN, 1.0, NAN, NAN, 1.0],
            [[1.9, 1, 16], [1.8, 2, 32], [1.8, 2, 32], [1.7, 3, 32], [1.7, 3, 25.6], [1.7, 3, 25.6], [1.6, 4, 25.6]],
        ),
        ((16.0, 2, 5, 2.0, 0.8), [1.0, NAN, 1.0, 1.0], [[1.9, 1, 16], [1.9, 1, 16], [1.8, 2, 16], [1.7, 3, 32]]),
        ((2.0, 9, 1, 2.0, 0.4), [NAN, NAN], [[2, 0, 1], [2, 0, 1]]),
        ((1e38, 1, 1, 10.0, 0.5), [0.0, 0.0], [[2, 1, 1e38], [2, 2, 1e38]]),
    ],
)
def test_a_scale_that_grows_and_shrinks(arguments: Any, gradients: list[float], recorded: list[list[float]]) -> None:
    rows = _steps(lambda: mixed.ExponentialUpdateLossScaleManager(*arguments), gradients)
    for ours, theirs in zip(rows, recorded, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-5)


def test_a_fixed_scale_leaves_out_steps_that_are_not_finite() -> None:
    rows = _steps(lambda: mixed.FixedLossScaleManager(8.0), [1.0, NAN, 1.0])
    assert rows[-1] == pytest.approx([1.8, 2, 8])
    with pytest.raises(ValueError, match=r"loss scale must be at least 1, got 0\.5"):
        mixed.FixedLossScaleManager(0.5)


def test_the_gradient_of_a_table_becomes_dense_as_in_1_15() -> None:
    with tf.Graph().as_default():
        table = v1.get_variable("t", [3, 2])
        optimizer = mixed.LossScaleOptimizer(v1.train.MomentumOptimizer(0.1, 0.9), mixed.FixedLossScaleManager(4.0))
        pairs = optimizer.compute_gradients(lambda: tf.reduce_sum(tf.gather(table, [1])), [table])
        assert not isinstance(pairs[0][0], tf.IndexedSlices)
        assert pairs[0][0].shape == [3, 2]
