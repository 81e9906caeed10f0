"""Hooks of the model, of the caller and Lightwell's own are called in the order in which 2.15.1 calls them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1

# Recorded from tensorflow-cpu 2.15.1: all calls of the program below.
_STEP = ["chief.before", "given.before", "model.before", "chief.after", "given.after", "model.after"]
TRAIN = [
    *["listener.begin", "chief.begin", "given.begin", "model.begin"],
    *["listener.before_save 0", "listener.after_save 0", "chief.created", "given.created", "model.created"],
    *[*_STEP, *_STEP],
    *["listener.before_save 2", "listener.after_save 2", "listener.end 2", "chief.end", "given.end", "model.end"],
]
_BATCH = ["given.before", "model.before", "given.after", "model.after"]
_BEGIN = ["given.begin", "model.begin", "given.created", "model.created"]
EVALUATE = [*_BEGIN, *_BATCH, "given.end", "model.end"]
PREDICT = [*_BEGIN, *_BATCH, *_BATCH, "given.before", "model.before", "given.end", "model.end"]


class _Told(v1.train.SessionRunHook):
    def __init__(self, name: str, calls: list[str]) -> None:
        self._tell = lambda what: calls.append(f"{name}.{what}")

    def begin(self) -> None:
        self._tell("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._tell("created")

    def before_run(self, run_context: Any) -> None:
        self._tell("before")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._tell("after")

    def end(self, session: Any) -> None:
        self._tell("end")


class _Listener(v1.train.CheckpointSaverListener):
    def __init__(self, calls: list[str]) -> None:
        self._calls = calls

    def begin(self) -> None:
        self._calls.append("listener.begin")

    def before_save(self, session: Any, global_step_value: int) -> None:
        self._calls.append(f"listener.before_save {global_step_value}")

    def after_save(self, session: Any, global_step_value: int) -> None:
        self._calls.append(f"listener.after_save {global_step_value}")

    def end(self, session: Any, global_step_value: int) -> None:
        self._calls.append(f"listener.end {global_step_value}")


def _input_fn(batches: int) -> Any:
    return lambda: tf.data.Dataset.from_tensor_slices({"x": np.ones(2 * batches, np.float32)}).batch(2)


def _model(calls: list[str], directory: Path, **settings: Any) -> lw.Estimator:
    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        weight = v1.get_variable("w", [], initializer=v1.ones_initializer())
        loss = tf.reduce_mean((weight * features["x"] - 1.0) ** 2)
        own = [_Told("model", calls)]
        return lw.EstimatorSpec(
            mode,
            predictions={"p": weight * features["x"]},
            loss=loss,
            train_op=v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step()),
            training_hooks=own,
            training_chief_hooks=[_Told("chief", calls)],
            evaluation_hooks=own,
            prediction_hooks=own,
        )

    return lw.Estimator(model_fn, str(directory), lw.RunConfig(**settings))


def test_calls_come_in_the_order_of_the_original(tmp_path: Path) -> None:
    calls: list[str] = []
    made = _model(calls, tmp_path)
    made.train(_input_fn(9), hooks=[_Told("given", calls)], steps=2, saving_listeners=[_Listener(calls)])
    assert calls == TRAIN
    calls.clear()
    made.evaluate(_input_fn(9), hooks=[_Told("given", calls)], steps=1)
    assert calls == EVALUATE
    calls.clear()
    assert len(list(made.predict(_input_fn(2), hooks=[_Told("given", calls)]))) == 4
    assert calls == PREDICT


def test_a_saver_that_is_brought_along_is_the_only_one_and_gets_the_listeners(tmp_path: Path) -> None:
    calls: list[str] = []
    made = _model(calls, tmp_path / "own", save_checkpoints_steps=1)
    saver = v1.train.CheckpointSaverHook(str(tmp_path / "brought"), save_steps=2)
    made.train(_input_fn(9), hooks=[saver], steps=4, saving_listeners=[_Listener(calls)])
    assert tf.train.latest_checkpoint(str(tmp_path / "own")) is None
    assert (tf.train.latest_checkpoint(str(tmp_path / "brought")) or "").endswith("model.ckpt-4")
    assert [call for call in calls if call.startswith("listener.after_save")][-1] == "listener.after_save 4"


def test_listeners_without_checkpoints_are_refused_before_a_step(tmp_path: Path) -> None:
    calls: list[str] = []
    made = _model(calls, tmp_path, save_checkpoints_steps=None, save_checkpoints_secs=None)
    with pytest.raises(ValueError, match="There should be a CheckpointSaverHook to use saving_listeners"):
        made.train(_input_fn(9), steps=1, saving_listeners=[_Listener(calls)])
    assert not [call for call in calls if call.endswith("before")]
