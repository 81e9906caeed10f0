"""Hooks of every make: TensorFlow's own given tensors, mocks, proxies, methods on the object. The same code for both.

`SCENES` maps a name to a function of (estimator module, model_dir) that gives plain values: calls, or log lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import tensorflow as tf
from tests.parity import draw_scenes, model_dirs
from tests.parity.draws import WIDTH
from tests.parity.fresh_kinds import local_variable
from tests.parity.hook_scenes import noting_outcome
from tests.parity.result_scenes import log_lines
from tests.parity.spies import Calls, SpyHook, stop

v1 = tf.compat.v1
Hook = v1.train.SessionRunHook
Scene = Callable[[Any, Path], Any]
SCENES: dict[str, Scene] = {}
MODES = ("train", "evaluate", "predict")
STEPS = 5


def _model(lib: Any, make_hooks: Callable[[], list[Any]]) -> Callable[..., Any]:
    """A model with a few named tensors whose numbers are plain, and hooks of its own."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = v1.get_variable("weight", [WIDTH, 1], initializer=v1.zeros_initializer())
        tf.constant(0.5, name="half")
        tf.constant([1, 2], name="pair")
        rows = tf.cast(tf.shape(features["x"])[0], tf.float32, name="rows")
        v1.summary.scalar("rows_again", rows)
        batches_seen = local_variable("seen", v1.zeros_initializer())
        tf.where(batches_seen.assign_add(1.0) < 3.0, rows, float("nan"), name="nan_from_3")
        hooks = {f"{name}_hooks": make_hooks() for name in ("training", "evaluation", "prediction")}
        output = features["x"] @ weight
        if mode == lib.ModeKeys.PREDICT:
            return lib.EstimatorSpec(mode, predictions={"output": output}, **hooks)
        loss = tf.reduce_mean(tf.square(output - labels))
        train_op = v1.train.GradientDescentOptimizer(0.0).minimize(loss, v1.train.get_global_step())
        return lib.EstimatorSpec(mode, loss=loss, train_op=train_op, **hooks)

    return model_fn


def _run(lib: Any, model_dir: Path, mode: str, in_spec: Callable[[], list[Any]], given: list[Any]) -> None:
    """One run of a mode; evaluations and predictions are of a model that was never trained."""
    est = draw_scenes.estimator(lib, model_dir, _model(lib, in_spec))
    if mode == "train":
        est.train(draw_scenes.batches, steps=STEPS, hooks=given)
    elif mode == "evaluate":
        est.evaluate(draw_scenes.batches, steps=STEPS, hooks=given)
    else:
        list(est.predict(draw_scenes.once, hooks=given))


def _tensor(name: str) -> Any:
    return v1.get_default_graph().get_tensor_by_name(f"{name}:0")


_LOGGING: dict[str, Callable[[], Any]] = {
    "a list of tensors": lambda: [_tensor("half"), _tensor("pair")],
    "a list of one tensor": lambda: [_tensor("rows")],
    "a tuple of tensors": lambda: (_tensor("rows"), _tensor("half")),
    "a list of a name and a tensor": lambda: ["half:0", _tensor("pair")],
    "a dict by tensors": lambda: {_tensor("half"): _tensor("half"), _tensor("pair"): "rows:0"},
    "a dict of tensors": lambda: {"z": _tensor("half"), "a": _tensor("pair")},
    "the name of the counter": lambda: {"g": "global_step:0"},
    "the counter": lambda: {"g": v1.train.get_global_step()},
    "the name of a variable": lambda: {"w": "weight:0"},
}


def _logging(name: str, mode: str, tensors: Callable[[], Any], **cadence: Any) -> None:
    def run(lib: Any, model_dir: Path) -> Any:
        result: dict[str, Any] = {}
        make = lambda: [v1.train.LoggingTensorHook(tensors(), **cadence)]  # noqa: E731
        with noting_outcome(result):
            lines = log_lines(model_dir, lambda: _run(lib, model_dir, mode, make, []))
            told = [line for line in lines if " = " in line and "Loss" not in line and "Saving" not in line]
            # The original tells the bytes of a variable's handle; that a line comes, and when, is what is held.
            result["lines"] = len(told) if "the name of" in name else told
        return result

    SCENES[f"{mode}: LoggingTensorHook of {name}, {cadence}"] = run


for _name, _tensors in _LOGGING.items():
    for _mode in MODES if _name in ("a list of tensors", "the name of the counter") else ["train"]:
        _logging(_name, _mode, _tensors, every_n_iter=2)
_logging("a list of tensors", "train", _LOGGING["a list of tensors"], at_end=True)
_logging("a list of tensors", "train", _LOGGING["a list of tensors"], every_n_iter=3, at_end=True)


_TENSORFLOWS: dict[str, Callable[[str], Any]] = {
    "SummarySaverHook": lambda folder: v1.train.SummarySaverHook(
        2, output_dir=folder, summary_op=v1.summary.merge_all()
    ),
    "StepCounterHook": lambda folder: v1.train.StepCounterHook(2, output_dir=folder),
    "StopAtStepHook of the first step": lambda folder: v1.train.StopAtStepHook(last_step=1),
    "NanTensorHook": lambda folder: v1.train.NanTensorHook(_tensor("nan_from_3")),
    "NanTensorHook that does not fail": lambda folder: v1.train.NanTensorHook(
        _tensor("nan_from_3"), fail_on_nan_loss=False
    ),
    "FinalOpsHook": lambda folder: v1.train.FinalOpsHook(_tensor("half")),
}


def _tensorflows(name: str, mode: str, make: Callable[[str], Any]) -> None:
    def run(lib: Any, model_dir: Path) -> Any:
        calls: Calls = []
        result: dict[str, Any] = {}
        with noting_outcome(result):
            _run(lib, model_dir, mode, lambda: [make(str(model_dir / "events"))], [SpyHook("B", calls)])
        v1.summary.FileWriterCache.clear()
        events = [[row[0], row[2]] for row in model_dirs.events(model_dir / "events") if row[1] == "summary"]
        return {**result, "batches": sum(call[1] == "after_run" for call in calls), "events": events}

    SCENES[f"{mode}: {name} of TensorFlow"] = run


for _name, _of_tensorflow in _TENSORFLOWS.items():
    for _mode in MODES:
        _tensorflows(_name, _mode, _of_tensorflow)


class Proxy:
    """Stands for a hook: it has the hook's class by word only, and hands every call on."""

    def __init__(self, hook: Any) -> None:
        self._hook = hook

    @property
    def __class__(self) -> Any:
        return type(self._hook)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._hook, name)


class _LateMethods(Hook):  # type: ignore[misc]
    """A hook whose methods are put on the object."""

    def __init__(self, calls: Calls) -> None:
        spy = SpyHook("late", calls)
        self.begin, self.after_create_session, self.end = spy.begin, spy.after_create_session, spy.end
        self.before_run, self.after_run = spy.before_run, spy.after_run


class _Answering(Hook):  # type: ignore[misc]
    """A hook whose methods are found when they are asked for."""

    def __init__(self, calls: Calls) -> None:
        self.spy = SpyHook("answering", calls)

    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__(self, "__dict__")
        if name in ("begin", "after_create_session", "before_run", "after_run", "end"):
            return getattr(own["spy"], name)
        return object.__getattribute__(self, name)


def _mock(kind: Any, calls: Calls, returns: Any = None, **settings: Any) -> Any:
    made = kind(**settings)
    if "wraps" not in settings:
        made.before_run.return_value = returns
    for method in ("begin", "after_create_session", "before_run", "after_run", "end"):
        one = getattr(made, method)
        one.side_effect = _noted(calls, method)
    return made


def _noted(calls: Calls, method: str) -> Callable[..., Any]:
    def note(*_: Any) -> Any:
        calls.append(["mock", method])
        return mock.DEFAULT

    return note


_MAKES: dict[str, Callable[[Calls], Any]] = {
    "MagicMock": lambda calls: _mock(mock.MagicMock, calls, spec=Hook),
    "Mock": lambda calls: _mock(mock.Mock, calls, spec=Hook),
    "NonCallableMock": lambda calls: _mock(mock.NonCallableMock, calls, spec=Hook),
    "a mock around a hook": lambda calls: _mock(mock.MagicMock, calls, wraps=SpyHook("wrapped", calls), spec=Hook),
    "a mock that fetches": lambda calls: _mock(
        mock.MagicMock, calls, v1.train.SessionRunArgs({"half": "half:0"}), spec=Hook
    ),
    "create_autospec": lambda calls: _mock(lambda: mock.create_autospec(Hook, instance=True), calls),
    "a proxy": lambda calls: Proxy(SpyHook("A", calls)),
    "a proxy that stops": lambda calls: Proxy(SpyHook("A", calls, at=2, after_run=stop)),
    "methods on the object": _LateMethods,
    "methods found when asked for": _Answering,
    "a proxy of TensorFlow's StopAtStepHook": lambda calls: Proxy(v1.train.StopAtStepHook(num_steps=3)),
    "a proxy of TensorFlow's FeedFnHook": lambda calls: Proxy(v1.train.FeedFnHook(lambda: {"half:0": 0.25})),
}


def _in_words(calls: Calls) -> list[str]:
    return [" ".join(map(str, call)) for call in calls]


def _made(name: str, mode: str, make: Callable[[Calls], Any]) -> None:
    def run(lib: Any, model_dir: Path) -> Any:
        calls: Calls = []
        result: dict[str, Any] = {}
        hooks = [make(calls), SpyHook("B", calls)]
        with noting_outcome(result):
            _run(lib, model_dir, mode, list, hooks)
        return {**result, "calls": _in_words(calls)}

    SCENES[f"{mode}: {name}"] = run


for _name, _make in _MAKES.items():
    for _mode in MODES if _name in ("MagicMock", "a proxy") else ["train"]:
        _made(_name, _mode, _make)


def _stops(mode: str, method: str, at: int, by: str) -> None:
    def run(lib: Any, model_dir: Path) -> Any:
        calls: Calls = []
        hooks = [SpyHook(who, calls, at, **({method: stop} if who == by else {})) for who in "AB"]
        _run(lib, model_dir, mode, lambda: [SpyHook("spec", calls)], hooks)
        return _in_words(calls)

    SCENES[f"{mode}: {by} asks to stop in {method} {at}"] = run


def _every_stop() -> Iterator[tuple[str, str, int, str]]:
    for mode in MODES:
        for method in ("before_run", "after_run"):
            for at in (1, 3):
                yield from ((mode, method, at, by) for by in "AB")


for _stop in _every_stop():
    _stops(*_stop)
