"""Hundreds of steps, one by one: the last are as the first, whatever is prepared anew on the way."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1
STEPS = 700


class Told(v1.train.SessionRunHook):
    """An old hook, which sees every step."""

    def __init__(self) -> None:
        self.draws: list[float] = []

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs("drawn:0")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.draws.append(run_values.results.item())


class Watched(lw.ScheduledHook):
    """The same of steps that run many to a call."""

    in_bulk = True

    def __init__(self) -> None:
        self.draws: list[float] = []

    def looks_at(self) -> Any:
        return "drawn:0"

    def next_look(self, count: int) -> int:
        return count + 1

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs("drawn:0")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.draws.append(run_values.results.item())


def in_the_graph() -> Any:
    return tf.random.normal([])


@tf.function
def in_a_function() -> Any:
    return tf.random.normal([])


@tf.function(experimental_attributes={"_noinline": True})
def apart() -> Any:
    return tf.random.normal([])


def noisy(draw: Callable[[], Any]) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        drawn = tf.identity(draw(), name="drawn")
        noise = v1.get_variable("noise", [], initializer=v1.zeros_initializer(), trainable=False)
        if mode != lw.ModeKeys.TRAIN:
            return spec
        return spec._replace(train_op=tf.group(spec.train_op, noise.assign_add(drawn)))

    return model_fn


def _trained(directory: Path, draw: Callable[[], Any], hook: Any) -> float:
    made = tiny.estimator(directory, noisy(draw), tf_random_seed=3)
    made.train(tiny.data, steps=STEPS, hooks=[hook])
    return float(made.get_variable_value("noise"))


@pytest.mark.parametrize("draw", [in_the_graph, in_a_function], ids=["in the graph", "in a function"])
def test_they_draw_what_fused_steps_draw(tmp_path: Path, draw: Callable[[], Any]) -> None:
    single, fused = Told(), Watched()
    assert _trained(tmp_path / "single", draw, single) == _trained(tmp_path / "fused", draw, fused)
    assert len(single.draws) == STEPS
    assert single.draws == fused.draws


def test_a_generator_that_is_part_of_no_graph_goes_on(tmp_path: Path) -> None:
    hook = Told()
    assert _trained(tmp_path, apart, hook) == pytest.approx(sum(hook.draws), rel=1e-3)
    assert len(set(hook.draws)) == STEPS  # one that starts again would draw the first ones again


def test_a_predictor_that_is_called_often_answers_the_same(tmp_path: Path) -> None:
    predict = tiny.trained(tmp_path).predictor()
    first = predict({"x": tiny.X[:3]})["out"]
    for call in range(STEPS):
        rows = 1 + call % 8
        np.testing.assert_array_equal(predict({"x": tiny.X[:rows]})["out"][:3], first[:rows])


def test_a_late_error_is_told_like_an_early_one(tmp_path: Path) -> None:
    def fails_at(step: int) -> Any:
        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            count = tf.cast(v1.train.get_global_step(), tf.int64)
            with tf.control_dependencies([v1.assert_less(count, tf.constant(step, tf.int64), message="too far")]):
                features = {"x": tf.identity(features["x"])}
            return tiny.linear(features, labels, mode, {})

        return model_fn

    told = []
    for step in (5, STEPS - 5):
        made = tiny.estimator(tmp_path / str(step), fails_at(step), fuse_steps=False)
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            made.train(tiny.data, steps=STEPS)
        told.append(re.sub(rf"\b({step}|{step + 1})\b", "N", str(caught.value)))
    assert "too far" in told[0]
    assert "test_many_single_steps.py" in told[0]
    assert told[0] == told[1]
