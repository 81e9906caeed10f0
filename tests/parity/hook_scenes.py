"""Runs with spying hooks: which calls happen, in which order, and how the run ends. The same code for both sides.

`SCENES` maps a name to a function of (estimator module, model_dir) that gives `{"calls": [...], "outcome": ...}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity.spies import Act, Calls, SpyHook, SpyListener, known_name, raising, stop

v1 = tf.compat.v1
Scene = Callable[[Any, Path], dict[str, Any]]
SCENES: dict[str, Scene] = {}

SPEC_HOOKS = {
    "training_hooks": "spec.training",
    "training_chief_hooks": "spec.chief",
    "evaluation_hooks": "spec.evaluation",
    "prediction_hooks": "spec.prediction",
}
_OUT_OF_RANGE = tf.errors.OutOfRangeError(None, None, "end of a hook's own queue")
_ABORTED = tf.errors.AbortedError(None, None, "a worker went away")
_UNAVAILABLE = tf.errors.UnavailableError(None, None, "a server went away")


def batches(count: int | None = None) -> Callable[[], Any]:
    """Batches of two rows; without end when `count` is None."""

    def input_fn() -> Any:
        x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(4, 2)
        dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(axis=1, keepdims=True))).repeat().batch(2)
        return dataset if count is None else dataset.take(count)

    return input_fn


def linear(lib: Any, calls: Calls, with_hooks: bool) -> Callable[..., Any]:
    """A linear regression whose spec brings hooks of its own when `with_hooks`."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = v1.get_variable("weight", [2, 1], initializer=v1.zeros_initializer())
        output = tf.matmul(features["x"], weight)
        hooks = {field: [SpyHook(name, calls)] for field, name in SPEC_HOOKS.items()} if with_hooks else {}
        if mode == lib.ModeKeys.PREDICT:
            return lib.EstimatorSpec(mode, predictions={"output": output}, **hooks)
        loss = tf.reduce_mean(tf.square(output - labels))
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=v1.train.get_global_step())
        return lib.EstimatorSpec(mode, loss=loss, train_op=train_op, **hooks)

    return model_fn


def made(lib: Any, model_dir: Path, calls: Calls, with_hooks: bool = False, **settings: Any) -> Any:
    """An Estimator that saves every second step."""
    config = lib.RunConfig(**{"save_checkpoints_steps": 2, **settings})
    return lib.Estimator(linear(lib, calls, with_hooks), str(model_dir), config)


@contextmanager
def noting_outcome(result: dict[str, Any]) -> Iterator[None]:
    try:
        yield
        result["outcome"] = "returned"
    except (Exception, KeyboardInterrupt) as error:
        result["outcome"] = known_name(error)


def scene(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register `run(lib, model_dir, calls)` under `name`."""

    def register(run: Callable[..., None]) -> Callable[..., None]:
        def whole(lib: Any, model_dir: Path) -> dict[str, Any]:
            calls: Calls = []
            result: dict[str, Any] = {"calls": calls}
            with noting_outcome(result):
                run(lib, model_dir, calls)
            return result

        SCENES[name] = whole
        return run

    return register


def _train_scene(name: str, at: int = 2, by: str = "A", data: int | None = None, **acts: Act) -> None:
    """Training of four steps in which hook `by` does `acts` in its `at`-th call."""

    @scene(f"train: {name}")
    def run(lib: Any, model_dir: Path, calls: Calls) -> None:
        hooks = [SpyHook(who, calls, at, **(acts if who in by else {})) for who in "AB"]
        est = made(lib, model_dir, calls)
        est.train(batches(data), hooks=hooks, max_steps=4, saving_listeners=[SpyListener("L", calls)])
        calls.append(["latest checkpoint", Path(est.latest_checkpoint()).name])


@scene("train: all kinds of hooks and two listeners")
def _train_all(lib: Any, model_dir: Path, calls: Calls) -> None:
    hooks = [SpyHook("A", calls), SpyHook("B", calls)]
    listeners = [SpyListener("L1", calls), SpyListener("L2", calls)]
    made(lib, model_dir, calls, with_hooks=True).train(batches(), hooks=hooks, max_steps=3, saving_listeners=listeners)


@scene("train: resumed, steps counts from the checkpoint")
def _train_resumed(lib: Any, model_dir: Path, calls: Calls) -> None:
    made(lib, model_dir, []).train(batches(), steps=3)
    listeners = [SpyListener("L", calls)]
    made(lib, model_dir, calls).train(batches(), hooks=[SpyHook("A", calls)], steps=2, saving_listeners=listeners)


@scene("train: max_steps reached before")
def _train_nothing_to_do(lib: Any, model_dir: Path, calls: Calls) -> None:
    made(lib, model_dir, []).train(batches(), steps=3)
    made(lib, model_dir, calls).train(batches(), hooks=[SpyHook("A", calls)], max_steps=3)


@scene("train: a listener stops at step 2")
def _listener_stops(lib: Any, model_dir: Path, calls: Calls) -> None:
    listeners = [SpyListener("L1", calls, stop_at=2), SpyListener("L2", calls)]
    made(lib, model_dir, calls).train(batches(), hooks=[SpyHook("A", calls)], steps=6, saving_listeners=listeners)


@scene("train: a listener stops at the first save, which does not count")
def _listener_stops_at_once(lib: Any, model_dir: Path, calls: Calls) -> None:
    listeners = [SpyListener("L", calls, stop_at=0)]
    made(lib, model_dir, calls).train(batches(), hooks=[SpyHook("A", calls)], steps=6, saving_listeners=listeners)


@scene("train: the saver is the user's own")
def _own_saver(lib: Any, model_dir: Path, calls: Calls) -> None:
    saver = v1.train.CheckpointSaverHook(str(model_dir), save_steps=1)
    hooks = [SpyHook("A", calls), saver, SpyHook("B", calls)]
    made(lib, model_dir, calls).train(batches(), hooks=hooks, steps=2, saving_listeners=[SpyListener("L", calls)])


@scene("train: listeners without checkpoints")
def _no_saver(lib: Any, model_dir: Path, calls: Calls) -> None:
    est = made(lib, model_dir, calls, save_checkpoints_steps=None, save_checkpoints_secs=None)
    est.train(batches(), hooks=[SpyHook("A", calls)], steps=2, saving_listeners=[SpyListener("L", calls)])


@scene("train: nothing is saved")
def _never_saved(lib: Any, model_dir: Path, calls: Calls) -> None:
    est = made(lib, model_dir, calls, save_checkpoints_steps=None, save_checkpoints_secs=None)
    est.train(batches(), hooks=[SpyHook("A", calls)], steps=2)
    calls.append(["latest checkpoint", est.latest_checkpoint()])


_train_scene("the data ends after two batches", data=2)
_train_scene("the data is empty", data=0)
for _by in "AB":
    _train_scene(f"{_by} raises in before_run", by=_by, before_run=raising(ValueError("asked for")))
    _train_scene(f"{_by} raises in after_run", by=_by, after_run=raising(ValueError("asked for")))
    _train_scene(f"{_by} asks to stop in before_run", by=_by, before_run=stop)
    _train_scene(f"{_by} asks to stop in after_run", by=_by, after_run=stop)
_train_scene("A and B ask to stop in after_run", by="AB", after_run=stop)
_train_scene("A asks to stop in the first before_run", at=1, before_run=stop)
_train_scene("A raises in begin", at=1, begin=raising(ValueError("asked for")))
_train_scene("A raises in after_create_session", at=1, after_create_session=raising(ValueError("asked for")))
_train_scene("A raises in end", at=1, end=raising(ValueError("asked for")))
_train_scene("A is interrupted in after_run", after_run=raising(KeyboardInterrupt()))
_train_scene("A raises StopIteration in before_run", before_run=raising(StopIteration()))
_train_scene("A raises StopIteration in after_run", after_run=raising(StopIteration()))
_train_scene("A raises OutOfRangeError in before_run", before_run=raising(_OUT_OF_RANGE))
_train_scene("A raises OutOfRangeError in after_run", after_run=raising(_OUT_OF_RANGE))
_train_scene("A raises AbortedError once in before_run", before_run=raising(_ABORTED))
_train_scene("A raises UnavailableError once in after_run", after_run=raising(_UNAVAILABLE))
_train_scene("A raises AbortedError once in after_create_session", at=1, after_create_session=raising(_ABORTED))


def _evaluate_scene(name: str, data: int | None = None, steps: int | None = 3, **acts: Act) -> None:
    @scene(f"evaluate: {name}")
    def run(lib: Any, model_dir: Path, calls: Calls) -> None:
        made(lib, model_dir, []).train(batches(), steps=1)
        hooks = [SpyHook("A", calls, 2, **acts), SpyHook("B", calls)]
        made(lib, model_dir, calls, with_hooks=True).evaluate(batches(data), steps=steps, hooks=hooks)


_evaluate_scene("three steps")
_evaluate_scene("to the end of the data", data=2, steps=None)
_evaluate_scene("the data ends before the steps", data=2)
_evaluate_scene("A asks to stop in after_run", after_run=stop)
_evaluate_scene("A raises in before_run", before_run=raising(ValueError("asked for")))
_evaluate_scene("A raises OutOfRangeError in after_run", after_run=raising(_OUT_OF_RANGE))
_evaluate_scene("A raises AbortedError once in before_run", before_run=raising(_ABORTED))


def _predict_scene(name: str, take: int | None = None, **acts: Act) -> None:
    @scene(f"predict: {name}")
    def run(lib: Any, model_dir: Path, calls: Calls) -> None:
        made(lib, model_dir, []).train(batches(), steps=1)
        hooks = [SpyHook("A", calls, 2, **acts), SpyHook("B", calls)]
        rows = made(lib, model_dir, calls, with_hooks=True).predict(batches(3), hooks=hooks)
        calls.append(["caller", "has the generator"])
        for number, _ in enumerate(rows):
            calls.append(["row", number])
            if take == number + 1:
                rows.close()
                calls.append(["caller", "closed the generator"])
                return


_predict_scene("to the end of the data")
_predict_scene("left after three rows", take=3)
_predict_scene("A asks to stop in before_run", before_run=stop)
_predict_scene("A asks to stop in after_run", after_run=stop)
_predict_scene("A raises in after_run", after_run=raising(ValueError("asked for")))
