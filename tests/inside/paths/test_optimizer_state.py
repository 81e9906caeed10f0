"""Weights, optimizer state and learning rates are told apart, whoever made the optimizer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests.inside.paths import models
from tests.inside.paths.models import TRAIN

import lightwell as lw
from lightwell.inside.paths.optimizer_state import split_names

v1 = tf.compat.v1


def _model(minimize: Any) -> Any:
    def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
        scale = v1.get_variable("scale", [], initializer=v1.ones_initializer())
        with v1.variable_scope("scale"):  # what lives below a variable's name is not always its slot
            x = scale * lw.layers.dense(features["age"] / 1000, 2)
        v1.get_variable("fixed/kernel", [3], trainable=False)
        loss = tf.reduce_mean(tf.square(lw.layers.dense(x, 1, name="out")))
        return lw.EstimatorSpec(mode, x, loss, minimize(loss))

    return model_fn


def _step() -> Any:
    return v1.train.get_or_create_global_step()


def _two_rates(loss: Any) -> Any:
    variables = v1.trainable_variables()
    first = v1.train.AdamOptimizer(0.1).minimize(loss, var_list=variables[:2])
    return tf.group(first, v1.train.FtrlOptimizer(0.2).minimize(loss, _step(), variables[2:]))


OPTIMIZERS: dict[str, tuple[Any, set[str], list[str]]] = {
    "sgd": (lambda loss: v1.train.GradientDescentOptimizer(0.1).minimize(loss, _step()), set(), ["learning_rate"]),
    "adam": (
        lambda loss: v1.train.AdamOptimizer(0.1).minimize(loss, _step()),
        {"Adam", "Adam_1", "beta1_power", "beta2_power"},
        ["learning_rate"],
    ),
    "momentum": (
        lambda loss: v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, _step()),
        {"Momentum"},
        ["learning_rate"],
    ),
    "rmsprop": (
        lambda loss: v1.train.RMSPropOptimizer(0.1).minimize(loss, _step()),
        {"RMSProp", "RMSProp_1"},
        ["learning_rate"],
    ),
    "adagrad": (lambda loss: v1.train.AdagradOptimizer(0.1).minimize(loss, _step()), {"Adagrad"}, ["learning_rate"]),
    "ftrl": (lambda loss: v1.train.FtrlOptimizer(0.1).minimize(loss, _step()), {"Ftrl", "Ftrl_1"}, ["learning_rate"]),
    "two": (
        _two_rates,
        {"Adam", "Adam_1", "beta1_power", "beta2_power", "Ftrl", "Ftrl_1"},
        ["learning_rate/Adam", "learning_rate/Ftrl"],
    ),
    "keras": (lambda loss: lw.minimize(keras.optimizers.Adam(0.1), loss), {"momentum", "velocity"}, ["learning_rate"]),
}
WEIGHTS = ["scale", "scale/dense/kernel", "scale/dense/bias", "fixed/kernel", "out/kernel", "out/bias"]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_weights_slots_and_rates(name: str) -> None:
    minimize, slots, rates = OPTIMIZERS[name]
    program = models.program(_model(minimize), TRAIN, models.once)
    assert models.paths(program, "weights") == [f"weights/{weight}" for weight in WEIGHTS]
    assert {path.rpartition("/")[2] for path in models.paths(program, "slots")} == slots
    assert models.paths(program, "learning_rate") == rates


def test_what_cannot_be_told_can_be_declared() -> None:
    def by_hand(loss: Any) -> Any:
        rate = tf.constant(0.25)
        v1.add_to_collection("lightwell/learning_rate", rate)
        return _by_hand(loss, rate)

    def _by_hand(loss: Any, rate: Any) -> Any:
        variables = v1.trainable_variables()
        steps = [v.assign_sub(rate * g) for v, g in zip(variables, tf.gradients(loss, variables), strict=True)]
        return tf.group(*steps, v1.assign_add(_step(), 1))

    untold = models.program(_model(lambda loss: _by_hand(loss, 0.25)), TRAIN)
    assert models.paths(untold, "learning_rate") == []
    assert models.paths(models.program(_model(by_hand), TRAIN), "learning_rate") == ["learning_rate"]


def _rates(made: lw.Estimator, steps: int) -> list[float]:
    seen: list[float] = []
    made.train(
        models.data,
        steps=steps,
        hooks=[lw.Watch("learning_rate", every=1, do=lambda s: seen.append(s["learning_rate"]))],
    )
    return seen


@pytest.mark.parametrize("fuse_steps", ["auto", False])
def test_a_schedule_is_seen_as_the_step_used_it(fuse_steps: Any, tmp_path: Path) -> None:
    def decaying(loss: Any) -> Any:
        rate = v1.train.exponential_decay(0.1, _step(), decay_steps=2, decay_rate=0.5, staircase=True)
        return v1.train.MomentumOptimizer(rate, 0.9).minimize(loss, _step())

    seen = _rates(models.estimator(_model(decaying), tmp_path, fuse_steps=fuse_steps), 6)
    np.testing.assert_allclose(seen, [0.1, 0.1, 0.05, 0.05, 0.025, 0.025], rtol=1e-6)


def test_a_schedule_of_keras_is_seen_as_the_step_used_it(tmp_path: Path) -> None:
    def decaying(loss: Any) -> Any:
        schedule = keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=2, decay_rate=0.5, staircase=True)
        return lw.minimize(keras.optimizers.SGD(schedule), loss)

    seen = _rates(models.estimator(_model(decaying), tmp_path), 6)
    np.testing.assert_allclose(seen, [0.1, 0.1, 0.05, 0.05, 0.025, 0.025], rtol=1e-6)


def test_several_rates_at_once(tmp_path: Path) -> None:
    seen: list[Any] = []
    made = models.estimator(_model(_two_rates), tmp_path)
    made.train(
        models.data, steps=1, hooks=[lw.Watch("learning_rate", every=1, do=lambda step: seen.append(dict(step)))]
    )
    assert seen == [{"learning_rate/Adam": pytest.approx(0.1), "learning_rate/Ftrl": pytest.approx(0.2)}]


def test_names_alone() -> None:
    names = ["global_step", "dense/kernel", "dense/kernel/Adam", "dense/kernel/Adam_1", "beta1_power", "beta2_power"]
    names += ["optimizer/adam/x", "bn/moving_mean", "dense/kernel/adam/velocity", "training/beta1_power"]
    weights, slots = split_names(names)
    assert weights == ["bn/moving_mean", "dense/kernel"]
    assert slots == sorted(set(names) - set(weights) - {"global_step"})


def test_slots_of_a_ready_made_model_of_tensorflow_1_are_no_weights() -> None:
    from lightwell.compat.v1.estimator import LinearRegressor

    ones = np.ones(4, np.float32)
    est = LinearRegressor([tf.feature_column.numeric_column("age")])  # its optimizer is called inside its own scope
    told = est.describe(lambda: tf.data.Dataset.from_tensors(({"age": ones}, ones)))
    assert (told.parameters, told.trainable_parameters, len(told.slots)) == (2, 2, 4)
