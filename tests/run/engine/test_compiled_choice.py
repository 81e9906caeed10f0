"""`jit_compile="auto"` tries both ways, and keeps the faster."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.conftest import LogLines

import lightwell as lw

v1 = tf.compat.v1


@pytest.fixture
def own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on only while this process computes: other work on the machine takes none of its time.

    The choice is made when the steps that are left take seconds; here a part of one is enough.
    """
    monkeypatch.setattr(time, "perf_counter", time.process_time)
    monkeypatch.setattr("lightwell.run.engine.compiled_shapes._WORTH", 0.3)


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


def train(folder: Path, model: Any, batch: int, steps: int) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        loss = tf.reduce_mean(tf.square(model(features)))
        train_op = v1.train.GradientDescentOptimizer(0.01).minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def input_fn() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensors(np.random.RandomState(0).rand(batch, 4).astype(np.float32)).repeat()

    config = lw.RunConfig(jit_compile="auto", tf_random_seed=1, log_step_count_steps=40)
    lw.Estimator(model_fn, str(folder), config).train(input_fn, steps=steps)


@pytest.mark.usefixtures("own_time")
@pytest.mark.parametrize(
    ("model", "batch", "steps", "found"),
    [(many_small_ops, 8, 6400, "compiled"), (convolutions, 16, 1200, "uncompiled")],
)
def test_the_faster_way_is_kept(model: Any, batch: int, steps: int, found: str, tmp_path: Path, log: LogLines) -> None:
    train(tmp_path, model, batch, steps)
    assert log.having("into one computation")  # it was tried
    (line,) = log.having("Steps go on")
    assert f" go on {found}:" in line
