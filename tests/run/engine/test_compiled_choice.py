"""`jit_compile="auto"` tries both ways, and keeps the faster."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.conftest import LogLines

import lightwell as lw

v1 = tf.compat.v1
_HASTE = 5  # times; the choice is made after seconds of steps, which here need not pass


@pytest.fixture
def own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on only while this process computes: other work on the machine takes none of its time."""
    monkeypatch.setattr(time, "perf_counter", lambda: _HASTE * time.process_time())


def many_small_ops(features: Any) -> Any:
    """XLA makes one loop of them."""
    weight = v1.get_variable("weight", [4], initializer=v1.ones_initializer())
    for _ in range(24):
        features = tf.tanh(features * weight + 0.1)
    return features


def convolutions(features: Any) -> Any:
    """XLA has no fast ones on a CPU, least of all for each channel by itself; TensorFlow has, ten times as fast."""
    pixels = tf.tile(tf.reshape(features, [-1, 2, 2, 1]), [1, 8, 8, 16])
    weight = v1.get_variable("weight", [5, 5, 16, 2])
    return tf.nn.depthwise_conv2d(pixels, weight, [1, 1, 1, 1], "SAME")


def trained(folder: Path, model: Any, batch: int, steps: int, between: Callable[[], None] | None = None) -> None:
    """Trains; `between` is called before each batch."""

    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        loss = tf.reduce_mean(tf.square(model(features)))
        train_op = v1.train.GradientDescentOptimizer(0.01).minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def input_fn() -> tf.data.Dataset:
        data = tf.data.Dataset.from_tensors(np.random.RandomState(0).rand(batch, 4).astype(np.float32)).repeat()
        return data if between is None else data.map(lambda rows: (tf.py_function(between, [], []), rows)[1])

    config = lw.RunConfig(jit_compile="auto", tf_random_seed=1, log_step_count_steps=40)
    lw.Estimator(model_fn, str(folder), config).train(input_fn, steps=steps)


@pytest.mark.usefixtures("own_time")
@pytest.mark.parametrize(
    ("model", "batch", "steps", "found"),
    [(many_small_ops, 8, 6400, "compiled"), (convolutions, 16, 1200, "uncompiled")],
)
def test_the_faster_way_is_kept(model: Any, batch: int, steps: int, found: str, tmp_path: Path, log: LogLines) -> None:
    trained(tmp_path, model, batch, steps)
    assert log.having("into one computation")  # it was tried
    (line,) = log.having("Steps go on")
    assert f" go on {found}:" in line


@pytest.mark.usefixtures("own_time")
def test_one_slow_call_does_not_decide(tmp_path: Path, log: LogLines) -> None:
    slow: list[float] = []

    def once_slow() -> None:
        if not slow and log.having("into one computation"):
            slow.append(time.process_time())
            while time.process_time() < slow[0] + 0.2:
                pass

    trained(tmp_path, many_small_ops, 8, 6400, between=once_slow)
    assert slow
    (line,) = log.having("Steps go on")
    assert " go on compiled:" in line
