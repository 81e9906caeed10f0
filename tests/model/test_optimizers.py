"""`minimize`: a train op from any optimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

import lightwell as lw
from lightwell.model.optimizers import minimize

v1 = tf.compat.v1
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "v1": lambda: v1.train.GradientDescentOptimizer(0.5),
    "keras": lambda: tf.keras.optimizers.SGD(0.5),
}


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("counted", [True, False])
def test_it_makes_a_step_and_counts_it(kind: str, counted: bool) -> None:
    with tf.Graph().as_default():
        step = v1.train.create_global_step()
        weight = v1.get_variable("w", [], initializer=v1.ones_initializer())
        v1.get_variable("apart", [])
        ran = v1.get_variable("ran", [], initializer=v1.zeros_initializer(), trainable=False)
        v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, v1.assign_add(ran, 1.0).op)
        train_op = minimize(OPTIMIZERS[kind](), weight**2, global_step=None if counted else False)
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
            session.run(train_op)
            assert session.run([weight, ran, step]) == [0.0, 1.0, int(counted)]


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_it_trains_what_it_is_told_and_counts_where_it_is_told(kind: str) -> None:
    with tf.Graph().as_default():
        one, other = (v1.get_variable(name, [], initializer=v1.ones_initializer()) for name in ("one", "other"))
        counter = v1.get_variable("counter", [], tf.int64, initializer=v1.zeros_initializer(), trainable=False)
        train_op = minimize(OPTIMIZERS[kind](), one**2 + other**2, [one], counter)
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
            session.run(train_op)
            assert session.run([one, other, counter]) == [0.0, 1.0, 1]


def test_a_graph_without_a_counter_is_told() -> None:
    with tf.Graph().as_default(), pytest.raises(lw.errors.UsageError, match="the graph has no global step to count in"):
        minimize(OPTIMIZERS["v1"](), tf.constant(0.0))


def test_outside_of_a_graph_it_is_told() -> None:
    with pytest.raises(lw.errors.UsageError, match="call it inside model_fn"):
        minimize(OPTIMIZERS["v1"](), tf.constant(0.0))


def test_something_else_is_no_optimizer() -> None:
    with tf.Graph().as_default():
        v1.train.create_global_step()
        with pytest.raises(
            lw.errors.WrongType, match=r"must be one of keras.optimizers or tf.compat.v1.train, got str 'adam'"
        ):
            minimize("adam", tf.constant(0.0))
