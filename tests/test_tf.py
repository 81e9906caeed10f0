"""What is reached behind TensorFlow's public names is still there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.conftest import LogLines

import lightwell as lw
from lightwell import _tf

v1 = tf.compat.v1


def test_listeners_can_be_added_to_a_users_own_hook(tmp_path: Path) -> None:
    heard: list[str] = []

    class Listener(v1.train.CheckpointSaverListener):
        def begin(self) -> None:
            heard.append("begin")

    with tf.Graph().as_default():
        v1.train.create_global_step()
        hook = v1.train.CheckpointSaverHook(str(tmp_path), save_steps=1, saver=v1.train.Saver())
        _tf.add_listeners(hook, [Listener()])
        hook.begin()
    assert heard == ["begin"]


def _sum(features: Any, labels: Any, mode: str) -> Any:
    w = v1.get_variable("w", [2, 1], initializer=v1.ones_initializer())
    out = features["x"] @ w
    metric = tf.keras.metrics.Mean(name="mean")
    metric.update_state(out)
    loss = tf.reduce_mean(tf.square(out - labels), name="the_loss")
    step = v1.train.GradientDescentOptimizer(0.0001).minimize(loss, v1.train.get_global_step())
    return lw.EstimatorSpec(mode, out, loss, step, eval_metric_ops={"mean": metric})


def _data() -> Any:
    x = np.arange(16, dtype=np.float32).reshape(8, 2)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x[:, :1])).batch(2)


class _Losses(v1.train.SessionRunHook):  # type: ignore[misc]
    """Looks at every step, so that each is a call of its own."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs("the_loss:0")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.seen.append(float(run_values.results))


def test_an_operation_that_takes_no_more_inputs_is_left_alone(log: Any) -> None:
    _tf.run_after(object(), [object()])
    assert "has no object._add_control_inputs, which Lightwell leans on. The value of a Keras metric" in log.lines[-1]


def test_a_saved_model_that_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").touch()
    monkeypatch.setitem(sys.modules, "tensorflow.core.protobuf", None)
    with pytest.raises(NotImplementedError, match=r"TensorFlow \S+ has no public way to read a saved_model\.pb, and "):
        lw.from_saved_model(tmp_path)


def test_without_a_way_to_eager_execution_it_is_told(monkeypatch: pytest.MonkeyPatch, log: LogLines) -> None:
    monkeypatch.delattr(tf.__internal__.eager_context, "eager_mode")
    with _tf.eager_mode():
        assert tf.executing_eagerly()
    assert log.having("has no __internal__.eager_context.eager_mode, which Lightwell leans on. A TFLite file")


def test_feature_columns_that_moved_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _tf.feature_columns().DenseColumn is not None
    monkeypatch.delattr(tf.__internal__.feature_column, "DenseColumn")
    with pytest.raises(
        NotImplementedError, match=r"has no tf\.__internal__\.feature_column\.DenseColumn, which DenseFe"
    ):
        lw.feature_columns.DenseFeatures([tf.feature_column.numeric_column("x")])
