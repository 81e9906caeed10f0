"""Models under MirroredStrategy over CPUs, and what is measured of them: the same for tf.estimator and for Lightwell.

Takes the package under test as two namespaces. The original needs a process of its own, in which TensorFlow has not
started: the number of CPU devices is settled then.
"""

from __future__ import annotations

import contextlib
import glob
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
STEPS = 6


def settle_devices(count: int) -> None:
    """Gives this process so many CPU devices."""
    cpus = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * count)


@contextlib.contextmanager
def more_devices_allowed() -> Iterator[None]:
    """Lets strategies be made over CPU devices that only sessions will have: a strategy makes variables at once."""
    before = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(True)
    try:
        yield
    finally:
        tf.config.set_soft_device_placement(before)


def strategy_of(count: int) -> Any:
    """A strategy over the first `count` CPU devices; None for one."""
    with more_devices_allowed():
        return None if count == 1 else tf.distribute.MirroredStrategy([f"/cpu:{number}" for number in range(count)])


def batches(size: int = 4) -> Any:
    draws = np.random.RandomState(0)
    x = draws.randn(96, 3).astype("f4")
    y = x @ np.array([[1.0], [2.0], [-1.0]], "f4") + 0.5
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat().batch(size)


def _made_of(est: Any, layers: Any, middle: Any, optimizer: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        constant = v1.constant_initializer
        hidden = layers.dense(features["x"], 4, activation=tf.nn.tanh, kernel_initializer=constant(0.1))
        hidden = middle(hidden, mode)
        out = layers.dense(hidden, 1, kernel_initializer=constant([[0.1], [0.2], [-0.1], [0.3]]))
        if mode == "infer":
            return est.EstimatorSpec(mode, predictions=out)
        loss = v1.losses.mean_squared_error(labels, out)
        metrics = {
            "mae": v1.metrics.mean_absolute_error(labels, out),
            "sign": v1.metrics.accuracy(labels > 0, out > 0),
            "mean": v1.metrics.mean(out),
        }
        if mode == "eval":
            return est.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
        updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            train_op = optimizer().minimize(loss, v1.train.get_global_step())
        return est.EstimatorSpec(mode, predictions=out, loss=loss, train_op=train_op)

    return model_fn


def models(est: Any, layers: Any) -> dict[str, Any]:
    """The estimators by name: functions of a RunConfig."""

    def normalized(hidden: Any, mode: str) -> Any:
        return layers.batch_normalization(hidden, momentum=0.8, training=mode == "train")

    plain = _made_of(est, layers, lambda hidden, mode: hidden, lambda: v1.train.MomentumOptimizer(0.05, 0.9))
    statistics = _made_of(est, layers, normalized, lambda: v1.train.AdamOptimizer(0.05))
    columns = [tf.feature_column.numeric_column("x", [3])]
    return {
        "momentum": lambda config: est.Estimator(plain, config=config),
        "batch_norm": lambda config: est.Estimator(statistics, config=config),
        "linear": lambda config: est.LinearRegressor(columns, config=config),
        "linear_sgd": lambda config: est.LinearRegressor(columns, config=config, optimizer="SGD"),
    }


def config_of(est: Any, count: int, directory: str | None = None) -> Any:
    strategy = strategy_of(count)
    return est.RunConfig(
        directory or tempfile.mkdtemp(),
        tf_random_seed=1,
        train_distribute=strategy,
        eval_distribute=strategy,
        save_summary_steps=1,
        session_config=v1.ConfigProto(device_count={"CPU": max(count, 4)}),
    )


def measured(estimator: Any) -> dict[str, Any]:
    """Trains and evaluates; gives losses by step, metrics, weights by name."""
    estimator.train(batches, steps=STEPS)
    result = estimator.evaluate(batches, steps=3)
    return {
        "losses": _losses(estimator.model_dir),
        "metrics": {name: float(value) for name, value in result.items()},
        "weights": {
            name: np.asarray(estimator.get_variable_value(name)).tolist() for name in estimator.get_variable_names()
        },
    }


def _losses(directory: str) -> list[float]:
    found = {}
    for path in glob.glob(os.path.join(directory, "events*")):
        for event in v1.train.summary_iterator(path):
            for value in event.summary.value:
                if value.tag == "loss":
                    found[event.step] = float(value.simple_value)
    return [found[step] for step in sorted(found)]
