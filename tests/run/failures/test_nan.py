"""Where did the NaN come from?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw

v1 = tf.compat.v1
NanLoss = v1.train.NanLossDuringTrainingError


def failing(model: Any, model_dir: Path, input_fn: Any = tiny.data, **settings: Any) -> str:
    """The text of the error of a training whose loss is `model(x, w)`."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        w = v1.get_variable("w", [], initializer=v1.ones_initializer())
        loss = model(features["x"], w)
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=v1.train.get_global_step())
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    with pytest.raises(NanLoss) as caught:
        tiny.estimator(model_dir, model_fn, **settings).train(input_fn, steps=50)
    return str(caught.value)


def test_the_first_bad_tensor_is_named_with_the_weights_of_the_last_checkpoint(tmp_path: Path, log: LogLines) -> None:
    text = failing(lambda x, w: tf.reduce_mean(tf.math.log(w - x, name="culprit")), tmp_path)
    assert text.startswith("NaN loss during training, at step 1. ")
    assert "Weights are no longer finite: w." in text
    assert "With the weights of model.ckpt-0: The first bad tensor is 'culprit:0' (op Log): it holds" in text
    assert "computed from finite inputs ['sub:0']" in text
    assert log.having("ERROR Model diverged with loss = NaN.")


def test_bad_input_is_named_as_such(tmp_path: Path) -> None:
    def input_fn() -> Any:
        x = np.array([1, np.nan, 3, np.inf], np.float32)
        return tf.data.Dataset.from_tensor_slices(({"x": x}, x)).repeat().batch(4)

    text = failing(lambda x, w: tf.reduce_mean(w * x), tmp_path, input_fn)
    assert "The input itself is not finite: IteratorGetNext:0 holds 1 NaN and 1 infinite of 4 values" in text


def test_without_a_checkpoint_it_says_what_it_knows(tmp_path: Path) -> None:
    text = failing(lambda x, w: tf.reduce_mean(tf.math.log(w - x)), tmp_path, save_checkpoints_steps=None)
    assert "Weights are no longer finite: w. A lower learning rate or clipped gradients may help." in text


def test_a_nan_that_leaves_the_weights_alone(tmp_path: Path) -> None:
    def model(x: Any, w: Any) -> Any:
        return tf.reduce_mean(w * x) + tf.stop_gradient(tf.math.log(tf.constant(-1.0), name="side"))

    assert "The first bad tensor is 'side:0' (op Log): it holds 1 NaN of 1 values" in failing(model, tmp_path)


def test_one_that_does_not_come_again(tmp_path: Path) -> None:
    def input_fn() -> Any:
        x = np.ones(40, np.float32)
        x[9] = np.nan
        return tf.data.Dataset.from_tensor_slices(({"x": x}, x)).batch(1)

    text = failing(lambda x, w: tf.reduce_mean(tf.stop_gradient(x)) + 0 * w, tmp_path, input_fn)
    assert "at step 10." in text
    assert "All weights are finite, and so is the forward pass of the next batch." in text


def test_the_end_of_the_data_is_no_obstacle(tmp_path: Path) -> None:
    def input_fn() -> Any:
        x = np.array([1, np.nan], np.float32)
        return tf.data.Dataset.from_tensor_slices(({"x": x}, x)).batch(1)

    text = failing(lambda x, w: tf.reduce_mean(w * x), tmp_path, input_fn)
    assert "at step 2." in text
    assert "Weights are no longer finite: w." in text


def test_odd_graphs_do_not_hide_the_nan(tmp_path: Path) -> None:
    """Loops, conditionals, strings, sparse tensors and placeholders stand between the input and the loss."""

    def model(x: Any, w: Any) -> Any:
        looped = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * w), [0, tf.reduce_sum(x)])[1]
        chosen = tf.cond(looped > 0, lambda: looped, lambda: -looped)
        parsed = tf.strings.to_number(tf.strings.as_string(tf.reduce_sum(x)))
        sparse = tf.sparse.reduce_sum(tf.sparse.from_dense(x))
        given = v1.placeholder_with_default(0.0, [])
        return chosen + parsed + sparse + given + tf.math.log(tf.constant(-1.0), name="culprit")

    assert "'culprit:0'" in failing(model, tmp_path)


def test_a_fed_value_is_no_obstacle_either(tmp_path: Path) -> None:
    class Feeds(v1.train.SessionRunHook):
        def before_run(self, run_context: Any) -> Any:
            return v1.train.SessionRunArgs(None, feed_dict={"rate:0": np.nan})

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        rate = v1.placeholder(tf.float32, [], name="rate")
        spec = tiny.linear(features, labels, mode, {})
        return spec._replace(loss=spec.loss * rate)

    with pytest.raises(NanLoss, match="at step 1"):
        tiny.estimator(tmp_path, model_fn).train(tiny.data, steps=3, hooks=[Feeds()])


def test_the_checkpoints_stay_sound(tmp_path: Path) -> None:
    failing(lambda x, w: tf.reduce_mean(tf.math.log(w - x)), tmp_path)
    (prefix,) = {file.stem for file in tmp_path.glob("*.index")}
    assert prefix == "model.ckpt-0"
    assert tf.train.load_checkpoint(str(tmp_path / prefix)).get_tensor("w") == 1
