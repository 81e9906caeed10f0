"""An edited loss is the one that gradients are taken of, also where a program takes them by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
X = np.random.default_rng(2).random((32, 3), np.float32)


def with_a_tape(loss: Callable[[], Any], weights: Any) -> tuple[Any, Any]:
    with tf.GradientTape() as tape:
        value = loss()
    return value, tape.gradient(value, weights)


def in_a_list(loss: Callable[[], Any], weights: Any) -> tuple[Any, Any]:
    value = loss()
    return value, v1.gradients(ys=[value], xs=weights)


def beside_another(loss: Callable[[], Any], weights: Any) -> tuple[Any, Any]:
    value = loss()
    steepness = tf.gradients(value, v1.trainable_variables()[0].read_value())[0]  # by no variable: not a loss
    del steepness
    return value, tf.gradients(value, weights)


WAYS: dict[str, Callable[[Callable[[], Any], Any], tuple[Any, Any]]] = {
    "tf.GradientTape": with_a_tape,
    "tf.compat.v1.gradients": in_a_list,
    "tf.gradients": beside_another,
}


def trained(folder: Path, way: str, by_hand: Callable[[Any], Any], edits: Any) -> dict[str, Any]:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weights = [v1.get_variable("kernel", [3, 2]), v1.get_variable("bias", [2], initializer=tf.ones_initializer())]

        def loss() -> Any:
            return by_hand(tf.reduce_mean(tf.square(features @ weights[0] + weights[1])))

        value, gradients = WAYS[way](loss, weights)
        clipped, _ = tf.clip_by_global_norm(gradients, 5.0)
        optimizer = v1.train.AdamOptimizer(0.05)
        update = optimizer.apply_gradients(zip(clipped, weights, strict=True), v1.train.get_global_step())
        return lw.EstimatorSpec(mode, loss=value, train_op=update)

    est = lw.Estimator(model_fn, folder, lw.RunConfig(tf_random_seed=4))
    losses: list[float] = []
    watch = lw.Watch("loss", every=1, do=lambda step: losses.append(float(step["loss"])))

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices((X, X[:, 0])).repeat().batch(8)

    est.train(input_fn, steps=6, hooks=[watch], edits=edits)
    return {**{name: est.get_variable_value(name) for name in est.get_variable_names()}, "losses": losses}


@pytest.mark.parametrize("way", WAYS)
def test_as_written_by_hand(tmp_path: Path, way: str) -> None:
    def change(loss: Any) -> Any:
        return tf.square(loss) * 0.5

    expected = trained(tmp_path / "by hand", way, change, [])
    found = trained(tmp_path / "edited", way, lambda loss: loss, [lw.apply("loss", change)])
    plain = trained(tmp_path / "plain", way, lambda loss: loss, [])
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)
    assert found["losses"] != plain["losses"]
