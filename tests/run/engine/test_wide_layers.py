"""Wide layers train to the numbers of a session by hand, whatever form their backward pass is computed in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
WIDE, STEPS = 512, 6
KERNEL = np.random.default_rng(0).standard_normal((WIDE, WIDE)).astype(np.float32) / 16


def layer(values: Any, name: str) -> Any:
    kernel = v1.get_variable(name, initializer=KERNEL, use_resource=True)
    return tf.nn.relu(tf.matmul(values, kernel))


def in_a_row(values: Any) -> Any:
    return layer(layer(values, "first"), "second")


def in_a_loop(values: Any) -> Any:
    with v1.variable_scope("looped", reuse=v1.AUTO_REUSE):
        v1.get_variable("kernel", initializer=KERNEL, use_resource=True)
        return tf.while_loop(lambda i, _: i < 2, lambda i, x: (i + 1, layer(x, "kernel")), [0, layer(values, "first")])[
            1
        ]


def batches(rows: int) -> Any:
    values = np.random.default_rng(1).random((rows, WIDE), dtype=np.float32)
    return tf.data.Dataset.from_tensors(values).repeat()


def step(net: Any, values: Any) -> tuple[Any, Any]:
    loss = tf.reduce_mean(tf.square(net(values) - 1))
    return loss, v1.train.GradientDescentOptimizer(0.5).minimize(loss, v1.train.get_or_create_global_step())


def by_hand(net: Any, rows: int) -> dict[str, Any]:
    with tf.Graph().as_default(), v1.Session() as session:
        _, train_op = step(net, v1.data.make_one_shot_iterator(batches(rows)).get_next())
        session.run(v1.global_variables_initializer())
        for _ in range(STEPS):
            session.run(train_op)
        return {one.op.name: session.run(one) for one in v1.trainable_variables()}


def by_estimator(net: Any, rows: int, folder: Path, fuse_steps: Any) -> dict[str, Any]:
    def model_fn(features: Any, mode: str) -> Any:
        loss, train_op = step(net, features)
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = lw.Estimator(model_fn, str(folder), lw.RunConfig(fuse_steps=fuse_steps))
    estimator.train(lambda: batches(rows), steps=STEPS)
    return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names() if "step" not in name}


@pytest.fixture
def old_control_flow() -> Iterator[None]:
    v1.disable_control_flow_v2()
    yield
    v1.enable_control_flow_v2()


def check(net: Any, rows: int, folder: Path) -> None:
    fused = by_estimator(net, rows, folder / "fused", "auto")
    for name, value in by_estimator(net, rows, folder / "single", False).items():
        np.testing.assert_array_equal(fused[name], value)
    for name, value in by_hand(net, rows).items():
        assert np.abs(value - KERNEL).max() > 1e-3, "it was trained"
        # The same sums, though threads may cut them into other parts.
        np.testing.assert_allclose(fused[name], value, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rows", [5, 40])
def test_of_few_rows_and_of_many(tmp_path: Path, rows: int) -> None:
    check(in_a_row, rows, tmp_path)


def test_in_a_loop(tmp_path: Path) -> None:
    check(in_a_loop, 40, tmp_path)


def test_in_a_loop_in_the_old_style(tmp_path: Path, old_control_flow: None) -> None:
    check(in_a_loop, 40, tmp_path)
