"""Strategies of one machine: the same training, on however many devices, and checkpoints that move between them."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests.parity import replica_runs as runs

import lightwell as lw
from lightwell.errors import ModelFnError

v1 = tf.compat.v1
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def plain(config: Any) -> Any:
    return runs.models(lw, lw.layers)["momentum"](config)


def trained(count: int, directory: Path, make: Any = plain) -> Any:
    """Four steps of eight examples each, by so many replicas."""
    return make(runs.config_of(lw, count, str(directory))).train(lambda: runs.batches(8 // count), steps=4)


def weights(estimator: Any) -> dict[str, Any]:
    return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}


def assert_same(ours: dict[str, Any], expected: dict[str, Any]) -> None:
    assert list(ours) == list(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(ours[name], value, **CLOSE, err_msg=name)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same training on one device."""
    return trained(1, tmp_path_factory.mktemp("alone"))


STRATEGIES = {
    "mirrored": lambda: (tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]), 4),
    "mirrored of v1": lambda: (v1.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]), 4),
    "four": lambda: (tf.distribute.MirroredStrategy([f"/cpu:{number}" for number in range(4)]), 2),
    "one device": lambda: (tf.distribute.OneDeviceStrategy("/cpu:1"), 8),
    "central": lambda: (
        tf.distribute.experimental.CentralStorageStrategy(["/cpu:0", "/cpu:1"], parameter_device="/cpu:0"),
        4,
    ),
}


QUICK = [("mirrored", "auto"), ("mirrored of v1", False), ("central", "auto")]
REST = [(name, fuse_steps) for name in STRATEGIES for fuse_steps in ("auto", False) if (name, fuse_steps) not in QUICK]


@pytest.mark.parametrize(
    ("name", "fuse_steps"), [*QUICK, *(pytest.param(*one, marks=pytest.mark.slow) for one in REST)]
)
def test_replicas_train_as_one_device_does_on_their_joined_batches(
    name: str, fuse_steps: Any, alone: Any, tmp_path: Path
) -> None:
    with runs.more_devices_allowed():
        strategy, size = STRATEGIES[name]()
    config = lw.RunConfig(str(tmp_path), train_distribute=strategy, fuse_steps=fuse_steps)
    assert_same(weights(plain(config).train(lambda: runs.batches(size), steps=4)), weights(alone))


@pytest.mark.parametrize(("first", "then"), [(1, 2), pytest.param(2, 4, marks=pytest.mark.slow), (4, 1)])
def test_a_training_goes_on_with_another_number_of_replicas(
    first: int, then: int, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    trained(first, tmp_path)
    assert_same(weights(trained(then, tmp_path)), _eight_steps(str(tmp_path_factory.getbasetemp())))


@functools.cache
def _eight_steps(folder: str) -> dict[str, Any]:
    directory = Path(folder) / "eight"
    trained(1, directory)
    return weights(trained(1, directory))


@pytest.mark.parametrize("count", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_an_evaluation_counts_every_batch_once(count: int, alone: Any) -> None:
    made = plain(runs.config_of(lw, count, alone.model_dir))
    for batches in (3, 5):
        once = functools.partial(lambda batches: runs.batches().take(batches), batches)
        assert made.evaluate(once) == pytest.approx(alone.evaluate(once), rel=1e-5)


def test_a_training_ends_before_a_step_that_not_all_replicas_have_a_batch_for(tmp_path: Path) -> None:
    made = plain(runs.config_of(lw, 2, str(tmp_path))).train(lambda: runs.batches().take(5))
    assert made.get_variable_value("global_step") == 2


def test_input_fn_is_told_of_the_replicas_and_predictions_need_none(tmp_path: Path) -> None:
    seen: list[Any] = []

    def input_fn(input_context: Any = None) -> Any:
        told = input_context and (input_context.num_input_pipelines, input_context.num_replicas_in_sync)
        seen.append(told)
        return runs.batches().take(4)

    made = plain(runs.config_of(lw, 2, str(tmp_path))).train(input_fn, steps=1)
    made.evaluate(input_fn)
    assert len(list(made.predict(input_fn))) == 16
    assert seen == [(1, 2), (1, 2), None]


def test_hooks_and_summaries_are_those_of_the_first_replica(tmp_path: Path) -> None:
    made: list[Any] = []

    class Counting(v1.train.SessionRunHook):
        def __init__(self) -> None:
            self.runs = 0
            made.append(self)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.runs += 1

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        loss = v1.losses.mean_squared_error(labels, lw.layers.dense(features["x"], 1))
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[Counting()])

    lw.Estimator(model_fn, config=runs.config_of(lw, 2, str(tmp_path))).train(runs.batches, steps=2)
    assert [hook.runs for hook in made] == [2, 0]


def keras_model(normalized: bool) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        start = keras.initializers.Constant(0.1)
        hidden = keras.layers.Dense(4, activation="tanh", kernel_initializer=start)(features["x"])
        if normalized:
            hidden = keras.layers.BatchNormalization(momentum=0.8)(hidden, training=mode == "train")
        out = keras.layers.Dense(1, kernel_initializer=start)(hidden)
        loss = keras.losses.MeanSquaredError()(labels, out)
        if mode == "eval":
            error = keras.metrics.MeanAbsoluteError()
            error.update_state(labels, out)
            return lw.EstimatorSpec(mode, loss=loss, eval_metric_ops={"mae": error})
        return lw.EstimatorSpec(mode, loss=loss, train_op=lw.minimize(keras.optimizers.Adam(0.05), loss))

    return lambda config: lw.Estimator(model_fn, config=config)


def test_keras_trains_the_same_weights_by_the_same_names(tmp_path: Path) -> None:
    alone, both = (trained(count, tmp_path / str(count), keras_model(normalized=False)) for count in (1, 2))
    assert_same(weights(both), weights(alone))
    once = functools.partial(lambda: runs.batches().take(3))
    assert both.evaluate(once) == pytest.approx(alone.evaluate(once), rel=1e-5)


def test_moving_statistics_of_keras_are_the_mean_over_replicas(tmp_path: Path) -> None:
    """After one step, in which all replicas begin with the same weights, it is that of the joined batch."""
    made = [keras_model(normalized=True)(runs.config_of(lw, count, str(tmp_path / str(count)))) for count in (1, 2)]
    alone, both = (
        one.train(lambda size=size: runs.batches(size), steps=1) for one, size in zip(made, (8, 4), strict=True)
    )
    assert both.get_variable_names() == alone.get_variable_names()
    mean = "batch_normalization/moving_mean"
    np.testing.assert_allclose(both.get_variable_value(mean), alone.get_variable_value(mean), **CLOSE)


def test_keras_optimizers_say_where_replicas_share_their_variables(tmp_path: Path) -> None:
    with runs.more_devices_allowed():
        strategy, _ = STRATEGIES["central"]()
    made = keras_model(normalized=False)(lw.RunConfig(str(tmp_path), train_distribute=strategy))
    with pytest.raises(ModelFnError, match="cannot be used under CentralStorageStrategy, whose replicas share"):
        made.train(runs.batches, steps=1)
