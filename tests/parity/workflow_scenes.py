"""`train_and_evaluate` as it happens: every call of functions, hooks, listeners, verbs and exporters, and the result.

`SCENES` maps a name to a function of (estimator module, base class of exporters, model_dir) that gives
`{"calls": [...], "outcome": ..., "result": ...}`; the same code for both sides.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import tensorflow as tf
from tests.parity.hook_scenes import noting_outcome
from tests.parity.spies import Calls, SpyHook, SpyListener, raising, stop

v1 = tf.compat.v1
Scene = Callable[[Any, type, Path], dict[str, Any]]
SCENES: dict[str, Scene] = {}
# What the original says of the workflow itself; other lines are of train and evaluate.
SAID = ("Running training and evaluation", "Start train and evaluate loop", "Skip the current checkpoint eval due to")
_ABORTED = tf.errors.AbortedError(None, None, "a worker went away")


class _Said(logging.Handler):
    """Notes log lines among the calls, up to the first full stop."""

    def __init__(self, calls: Calls) -> None:
        super().__init__()
        self.calls = calls

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text.startswith(SAID):
            self.calls.append(["log", text.split(".")[0].split(", the last")[0]])


class Stage:
    """All that one scene is made of; everything notes its calls."""

    def __init__(self, lib: Any, exporter: type, model_dir: Path) -> None:
        self.lib, self.exporter_base, self.model_dir = lib, exporter, model_dir
        self.calls: Calls = []

    def data(self, who: str, count: int | None = None) -> Callable[[], Any]:
        """Batches of two rows, without end when `count` is None."""

        def input_fn() -> Any:
            self.calls.append(["input_fn", who])
            x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(4, 2)
            dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(axis=1, keepdims=True))).repeat().batch(2)
            return dataset if count is None else dataset.take(count)

        return input_fn

    def model_fn(self, features: Any, labels: Any, mode: str) -> Any:
        self.calls.append(["model_fn", mode])
        weight = v1.get_variable("weight", [2, 1], initializer=v1.zeros_initializer())
        output = tf.matmul(features["x"], weight)
        loss = tf.reduce_mean(tf.square(output - labels))
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=v1.train.get_global_step())
        metrics = {"mae": v1.metrics.mean_absolute_error(labels, output)}
        return self.lib.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    def exporter(self, name: str, raises: BaseException | None = None) -> Any:
        calls = self.calls

        class Noting(self.exporter_base):  # type: ignore[misc, name-defined]
            @property
            def name(self) -> str:
                return name

            def export(
                self, estimator: Any, export_path: Any, checkpoint_path: Any, eval_result: Any, is_the_final_export: Any
            ) -> Any:
                where = os.path.relpath(export_path, estimator.model_dir)
                seen = [name, where, os.path.basename(checkpoint_path), sorted(eval_result), bool(is_the_final_export)]
                calls.append(["export", *seen])
                if raises is not None:
                    raise raises
                return f"{name} at {eval_result['global_step']}"

        return Noting()

    def estimator(self, **settings: Any) -> Any:
        """One that saves every second step and whose verbs are noted."""
        config = self.lib.RunConfig(**{"save_checkpoints_steps": 2, **settings})
        made = self.lib.Estimator(self.model_fn, str(self.model_dir), config)
        train, evaluate = made.train, made.evaluate

        def noted_train(*args: Any, **kwargs: Any) -> Any:
            kinds = [type(one).__name__ for one in kwargs["saving_listeners"][:-1]]
            shown = [kwargs["max_steps"], type(kwargs["hooks"]).__name__, len(kwargs["hooks"]), kinds]
            self.calls.append(["train", *map(str, args), sorted(kwargs), *shown])
            done = train(*args, **kwargs)
            self.calls.append(["trained"])
            return done

        def noted_evaluate(*args: Any, **kwargs: Any) -> Any:
            kept = {key: value for key, value in kwargs.items() if key not in ("input_fn", "hooks")}
            kept["checkpoint_path"] = os.path.basename(kept["checkpoint_path"])
            self.calls.append(["evaluate", *map(str, args), sorted(kwargs), kept, len(kwargs["hooks"])])
            done = evaluate(*args, **kwargs)
            self.calls.append(["evaluated"])
            return done

        made.train, made.evaluate = noted_train, noted_evaluate
        return made

    def run(self, train: dict[str, Any], evaluation: dict[str, Any], estimator: Any = None, **settings: Any) -> Any:
        made = estimator or self.estimator(**settings)
        train_spec = self.lib.TrainSpec(**{"input_fn": self.data("train"), "max_steps": 4, **train})
        some = {"input_fn": self.data("eval"), "steps": 2, "throttle_secs": 0, **evaluation}
        return self.lib.train_and_evaluate(made, train_spec, self.lib.EvalSpec(**some))


def scene(name: str) -> Callable[[Callable[[Stage], Any]], Callable[[Stage], Any]]:
    def register(run: Callable[[Stage], Any]) -> Callable[[Stage], Any]:
        def whole(lib: Any, exporter: type, model_dir: Path) -> dict[str, Any]:
            stage = Stage(lib, exporter, model_dir)
            result: dict[str, Any] = {"calls": stage.calls}
            handler, logger = _Said(stage.calls), logging.getLogger("tensorflow")
            level = logger.level
            logger.setLevel(logging.INFO)
            logger.addHandler(handler)
            try:
                with noting_outcome(result):
                    metrics, exports = run(stage)
                    plain = None if metrics is None else {key: float(value) for key, value in metrics.items()}
                    result["result"] = [plain, exports]
            finally:
                logger.removeHandler(handler)
                logger.setLevel(level)
            return result

        SCENES[name] = whole
        return run

    return register


@scene("hooks, listeners and two exporters on both sides")
def _whole(stage: Stage) -> Any:
    train = {"hooks": [SpyHook("H", stage.calls)], "saving_listeners": [SpyListener("L", stage.calls)]}
    exporters = [stage.exporter("a"), stage.exporter("b")]
    return stage.run(train, {"hooks": [SpyHook("E", stage.calls)], "exporters": exporters, "name": "held_out"})


@scene("throttled: only the first and the last are evaluated")
def _throttled(stage: Stage) -> Any:
    train = {"max_steps": 8, "saving_listeners": [SpyListener("L", stage.calls)]}
    return stage.run(train, {"throttle_secs": 1000, "start_delay_secs": 1000, "exporters": stage.exporter("a")})


@scene("resumed: the checkpoint that it starts from is not evaluated")
def _resumed(stage: Stage) -> Any:
    stage.lib.Estimator(stage.model_fn, str(stage.model_dir)).train(stage.data("before"), steps=3)
    return stage.run({"max_steps": 6}, {"exporters": [stage.exporter("a")]})


@scene("max_steps reached before: nothing happens")
def _nothing(stage: Stage) -> Any:
    stage.lib.Estimator(stage.model_fn, str(stage.model_dir)).train(stage.data("before"), steps=4)
    return stage.run({}, {"exporters": [stage.exporter("a")]})


@scene("run twice")
def _twice(stage: Stage) -> Any:
    stage.run({"max_steps": 2}, {})
    return stage.run({"max_steps": 4}, {})


@scene("the data ends, no max_steps: no export is the final one")
def _data_ends(stage: Stage) -> Any:
    return stage.run({"input_fn": stage.data("train", 3), "max_steps": None}, {"exporters": [stage.exporter("a")]})


@scene("the data ends before max_steps")
def _data_ends_early(stage: Stage) -> Any:
    return stage.run({"input_fn": stage.data("train", 4), "max_steps": 9}, {"exporters": [stage.exporter("a")]})


@scene("the data ends at a checkpoint that was throttled")
def _data_ends_throttled(stage: Stage) -> Any:
    train = {"input_fn": stage.data("train", 4), "max_steps": None}
    return stage.run(train, {"throttle_secs": 1000, "exporters": [stage.exporter("a")]})


@scene("there is no data")
def _no_data(stage: Stage) -> Any:
    return stage.run({"input_fn": stage.data("train", 0)}, {"exporters": [stage.exporter("a")]})


@scene("no data to evaluate")
def _no_eval_data(stage: Stage) -> Any:
    return stage.run({}, {"input_fn": stage.data("eval", 0), "steps": None})


@scene("evaluation to the end of its data")
def _all_steps(stage: Stage) -> Any:
    return stage.run({}, {"input_fn": stage.data("eval", 3), "steps": None})


@scene("a hook stops the training between checkpoints")
def _hook_stops(stage: Stage) -> Any:
    hooks = [SpyHook("H", stage.calls, at=3, after_run=stop)]
    return stage.run({"hooks": hooks, "max_steps": 9}, {"exporters": [stage.exporter("a")]})


@scene("a listener stops the training: the checkpoint is evaluated all the same")
def _listener_stops(stage: Stage) -> Any:
    listeners = [SpyListener("L", stage.calls, stop_at=2)]
    return stage.run({"saving_listeners": listeners, "max_steps": 9}, {"exporters": [stage.exporter("a")]})


@scene("checkpoints by seconds: the last one alone")
def _by_seconds(stage: Stage) -> Any:
    return stage.run({}, {"exporters": [stage.exporter("a")]}, save_checkpoints_steps=None, save_checkpoints_secs=600)


@scene("no checkpoints")
def _no_checkpoints(stage: Stage) -> Any:
    return stage.run({}, {}, save_checkpoints_steps=None, save_checkpoints_secs=None)


@scene("the saver is the user's own")
def _own_saver(stage: Stage) -> Any:
    saver = v1.train.CheckpointSaverHook(str(stage.model_dir), save_steps=3)
    return stage.run(
        {"hooks": [SpyHook("H", stage.calls), saver], "max_steps": 6}, {"exporters": [stage.exporter("a")]}
    )


@scene("the user's own saver saves elsewhere")
def _saver_elsewhere(stage: Stage) -> Any:
    saver = v1.train.CheckpointSaverHook(str(stage.model_dir) + "-elsewhere", save_steps=2)
    return stage.run({"hooks": [saver]}, {})


@scene("a session is lost")
def _lost(stage: Stage) -> Any:
    hooks = [SpyHook("H", stage.calls, at=4, before_run=raising(_ABORTED))]
    return stage.run({"hooks": hooks, "max_steps": 6}, {"exporters": [stage.exporter("a")]})


@scene("an evaluation fails")
def _evaluation_fails(stage: Stage) -> Any:
    hooks = [SpyHook("E", stage.calls, at=3, before_run=raising(ValueError("asked for")))]
    return stage.run({"hooks": [SpyHook("H", stage.calls)]}, {"hooks": hooks})


@scene("an exporter fails")
def _exporter_fails(stage: Stage) -> Any:
    exporters = [stage.exporter("a", raises=OSError("full")), stage.exporter("b")]
    return stage.run({"hooks": [SpyHook("H", stage.calls)]}, {"exporters": exporters})


def _evaluate_returns(what: str, value: Any) -> None:
    @scene(f"evaluate is replaced, and returns {what}")
    def run(stage: Stage) -> Any:
        made = stage.estimator()
        made.evaluate = mock.Mock(return_value=value)
        return stage.run({}, {"exporters": [stage.exporter("a")]}, made)


_evaluate_returns("nothing", None)
_evaluate_returns("no metrics", {})
_evaluate_returns("a number", 3)
_evaluate_returns("no global_step", {"loss": 1.0})
_evaluate_returns("an earlier step than the goal", {"loss": 1.0, "global_step": 2})
_evaluate_returns("a later step than the goal", {"loss": 1.0, "global_step": 17})


def _train_replaced(what: str, steps: tuple[int, ...], newest: str | None, **evaluation: Any) -> None:
    @scene(f"train is replaced: {what}")
    def run(stage: Stage) -> Any:
        made = stage.estimator()

        def train(**kwargs: Any) -> None:
            (listener,) = kwargs["saving_listeners"]
            listener.begin()
            for step in steps:
                listener.before_save(None, step)
                stage.calls.append(["after_save", step, listener.after_save(None, step)])
            if steps:
                listener.end(None, steps[-1])

        made.train = train
        made.latest_checkpoint = mock.Mock(return_value=newest)
        made.evaluate = mock.Mock(return_value={"global_step": 2})
        return stage.run({}, {"exporters": [stage.exporter("a")], **evaluation}, made)


_train_replaced("it does nothing", (), None)
_train_replaced("it saves nothing", (0, 2, 4), None)
_train_replaced("it saves the same checkpoint again", (0, 2, 4), "/nowhere/model.ckpt-2")
_train_replaced("it saves one step twice", (0, 2, 2), "/nowhere/model.ckpt-2")
_train_replaced("the same checkpoint again, throttled", (0, 2, 4), "/nowhere/model.ckpt-2", throttle_secs=1000)
