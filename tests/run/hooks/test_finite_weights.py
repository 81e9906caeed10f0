"""Weights that are no numbers are said when a checkpoint with them is written, once, and only then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw

v1 = tf.compat.v1


def with_nan() -> Any:
    """Batches of two, of which the second has a NaN among its features."""
    x = np.array([1, 2, np.nan, 4, 5, 6, 7, 8], np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, tiny.Y)).repeat().batch(2)


def masked(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    """A model whose loss leaves NaN out, and whose gradient does not."""
    w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
    best = v1.get_variable("best", [], initializer=v1.constant_initializer(np.inf), trainable=False)
    out = w[0] * features["x"]
    error = tf.where(tf.math.is_finite(out), out - labels, tf.zeros_like(out))
    loss = tf.reduce_mean(tf.square(error)) + 0.0 * tf.minimum(best, 1.0)
    train_op = v1.train.GradientDescentOptimizer(0.001).minimize(loss, v1.train.get_global_step(), var_list=[w])
    return lw.EstimatorSpec(mode, out, loss, train_op)


def test_weights_that_are_nan_are_said_once_with_the_step(tmp_path: Path, log: LogLines) -> None:
    made = tiny.estimator(tmp_path, masked, save_checkpoints_steps=1)
    made.train(with_nan, steps=4)
    assert np.isnan(made.get_variable_value("w")[0])
    assert not log.having("NaN loss")
    (line,) = [line for line in log.lines if line.startswith("WARNING")]
    assert line == (
        "WARNING train: the checkpoint of step 2 holds weights that are not finite: w (1 NaN of 2). To find where that "
        'began, train from an earlier checkpoint with hooks=[lw.Watch(lw.stats("features/*", "gradients/*"), '
        "every=1)], and clean the features or clip the gradients."
    )


def test_the_last_step_of_a_training_is_looked_at(tmp_path: Path, log: LogLines) -> None:
    """Its loss is of the weights before it."""
    tiny.estimator(tmp_path, params={"learning_rate": np.inf}).train(tiny.data, steps=1)
    assert log.having("the checkpoint of step 1 holds weights that are not finite: w (1 infinite of 1), b (1 infinite")


def test_weights_that_are_numbers_are_not_mentioned(tmp_path: Path, log: LogLines) -> None:
    tiny.estimator(tmp_path, masked).train(tiny.data, steps=3)
    assert not log.having("finite"), "an infinity that is not trained may be meant"
