"""Hooks of early stopping and of evaluations in memory, and hooks of TensorFlow under an Estimator's verbs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf
from tests.parity.hook_scenes import batches
from tests.parity.mistakes.base import Mistake
from tests.parity.mistakes.verbs import model
from tests.parity.spies import SpyHook

v1 = tf.compat.v1
MISTAKES: dict[str, Mistake] = {}
_ESTIMATORS: dict[str, Any] = {"None": None, "a number": 1, "text": "a"}
_ONE_BATCH = batches(1)
_EVERY = {"None": None, "0": 0, "-1": -1, "text": "a"}


def _estimator(lib: Any, model_dir: Path) -> Any:
    return lib.Estimator(model(lib), str(model_dir))


def _stopping(make: Callable[[Any, Any], Any], estimator: Any = "made") -> Mistake:
    def run(lib: Any, model_dir: Path) -> None:
        made = _estimator(lib, model_dir) if estimator == "made" else estimator
        make(lib.experimental, made)

    return run


def _early(**arguments: Any) -> Callable[[Any, Any], Any]:
    usual = {"should_stop_fn": lambda: True, "run_every_secs": None, "run_every_steps": 1}
    return lambda api, estimator: api.make_early_stopping_hook(estimator, **{**usual, **arguments})


for _what, _value in _ESTIMATORS.items():
    MISTAKES[f"make_early_stopping_hook: the estimator is {_what}"] = _stopping(_early(), _value)
    MISTAKES[f"stop_if_higher_hook: the estimator is {_what}"] = _stopping(
        lambda api, estimator: api.stop_if_higher_hook(estimator, "loss", 1.0), _value
    )
    MISTAKES[f"make_stop_at_checkpoint_step_hook: the estimator is {_what}"] = _stopping(
        lambda api, estimator: api.make_stop_at_checkpoint_step_hook(estimator, 1), _value
    )
for _what, _value in _EVERY.items():
    MISTAKES[f"make_early_stopping_hook: run_every_steps is {_what}"] = _stopping(_early(run_every_steps=_value))
    MISTAKES[f"make_early_stopping_hook: run_every_secs is {_what}"] = _stopping(
        _early(run_every_secs=_value, run_every_steps=None)
    )
    MISTAKES[f"make_stop_at_checkpoint_step_hook: last_step is {_what}"] = _stopping(
        lambda api, estimator, value=_value: api.make_stop_at_checkpoint_step_hook(estimator, value)
    )
MISTAKES |= {
    "make_early_stopping_hook: secs and steps": _stopping(_early(run_every_secs=1)),
    "make_early_stopping_hook: should_stop_fn is None": _stopping(_early(should_stop_fn=None)),
    "make_early_stopping_hook: should_stop_fn is a number": _stopping(_early(should_stop_fn=1)),
}
STOPS = {
    "stop_if_higher_hook": "threshold",
    "stop_if_lower_hook": "threshold",
    "stop_if_no_increase_hook": "max_steps_without_increase",
    "stop_if_no_decrease_hook": "max_steps_without_decrease",
}


def _stop(kind: str, argument: str, **arguments: Any) -> Callable[[Any, Any], Any]:
    usual = {"metric_name": "loss", argument: 1, "run_every_secs": None, "run_every_steps": 1}
    return lambda api, estimator: getattr(api, kind)(estimator, **{**usual, **arguments})


for _kind, _bound in STOPS.items():
    for _argument, _values in {
        "metric_name": {"None": None, "a number": 1},
        _bound: {"None": None, "text": "a", "-1": -1},
        "min_steps": {"None": None, "text": "a", "-1": -1},
        "run_every_steps": {"None": None, "0": 0},
        "run_every_secs": {"given too": 1},
        "eval_dir": {"a number": 1},
    }.items():
        for _what, _value in _values.items():
            MISTAKES[f"{_kind}: {_argument} is {_what}"] = _stopping(_stop(_kind, _bound, **{_argument: _value}))


def _in_memory(estimator: Any = "made", input_fn: Any = _ONE_BATCH, **arguments: Any) -> Mistake:
    def run(lib: Any, model_dir: Path) -> None:
        made = _estimator(lib, model_dir) if estimator == "made" else estimator
        lib.experimental.InMemoryEvaluatorHook(made, input_fn, **arguments)

    return run


def _subclass(lib: Any, model_dir: Path) -> None:
    canned = lib.LinearRegressor([tf.feature_column.numeric_column("x")], str(model_dir))
    canned.config.replace(save_summary_steps=1)
    lib.experimental.InMemoryEvaluatorHook(canned, batches(1), every_n_iter=-1)


MISTAKES |= {
    "InMemoryEvaluatorHook: the estimator is None": _in_memory(None),
    "InMemoryEvaluatorHook: the estimator is a number": _in_memory(1),
    "InMemoryEvaluatorHook: input_fn is None": _in_memory(input_fn=None),
    "InMemoryEvaluatorHook: input_fn is a number": _in_memory(input_fn=1),
    "InMemoryEvaluatorHook: steps=0": _in_memory(steps=0),
    "InMemoryEvaluatorHook: steps=-1": _in_memory(steps=-1),
    "InMemoryEvaluatorHook: steps is text": _in_memory(steps="a"),
    "InMemoryEvaluatorHook: every_n_iter=0": _in_memory(every_n_iter=0),
    "InMemoryEvaluatorHook: every_n_iter=-1": _in_memory(every_n_iter=-1),
    "InMemoryEvaluatorHook: every_n_iter is None": _in_memory(every_n_iter=None),
    "InMemoryEvaluatorHook: every_n_iter is text": _in_memory(every_n_iter="a"),
    "InMemoryEvaluatorHook: hooks are not hooks": _in_memory(hooks=[1]),
    "InMemoryEvaluatorHook: hooks is one hook": _in_memory(hooks=SpyHook("A", [])),
    "InMemoryEvaluatorHook: of a canned model, every_n_iter=-1": _subclass,
}

MADE: dict[str, Callable[[Any], Any]] = {
    "StopAtStepHook of nothing": lambda lib: lib.StopAtStepHook(),
    "StopAtStepHook of both": lambda lib: lib.StopAtStepHook(1, 2),
    "LoggingTensorHook of nothing": lambda lib: lib.LoggingTensorHook({"a": "b"}),
    "LoggingTensorHook of both": lambda lib: lib.LoggingTensorHook({"a": "b"}, 1, 2),
    "LoggingTensorHook of -1": lambda lib: lib.LoggingTensorHook({"a": "b"}, every_n_iter=-1),
    "CheckpointSaverHook of nothing": lambda lib: lib.CheckpointSaverHook("a"),
    "CheckpointSaverHook of both": lambda lib: lib.CheckpointSaverHook("a", 1, 2),
    "CheckpointSaverHook of a saver and a scaffold": lambda lib: lib.CheckpointSaverHook(
        "a", save_steps=1, saver=1, scaffold=1
    ),
    "SummarySaverHook of nothing": lambda lib: lib.SummarySaverHook(),
    "SummarySaverHook of both": lambda lib: lib.SummarySaverHook(1, 2, summary_op=1),
    "SummarySaverHook of a scaffold and an op": lambda lib: lib.SummarySaverHook(1, scaffold=1, summary_op=1),
    "StepCounterHook of both": lambda lib: lib.StepCounterHook(1, 2),
    "ProfilerHook of nothing": lambda lib: lib.ProfilerHook(),
    "SecondOrStepTimer of nothing": lambda lib: lib.SecondOrStepTimer(),
    "SecondOrStepTimer of both": lambda lib: lib.SecondOrStepTimer(1, 2),
}
MISTAKES |= {f"hook: {what}": lambda lib, model_dir, make=make: make(lib) for what, make in MADE.items()}
WARM: dict[str, Callable[[Any], Any]] = {
    "WarmStartSettings without a checkpoint": lambda lib: lib.WarmStartSettings(None),
    "WarmStartSettings of nothing": lambda lib: lib.WarmStartSettings(),
    "WarmStartSettings of an empty text": lambda lib: lib.WarmStartSettings(""),
    "VocabInfo of nothing": lambda lib: lib.VocabInfo(),
    "VocabInfo on axis 2": lambda lib: lib.VocabInfo("a", 1, 0, "b", axis=2),
}
MISTAKES |= {what: lambda lib, model_dir, make=make: make(lib) for what, make in WARM.items()}


def _warm(make: Callable[[Any, str], Any]) -> Mistake:
    """A second Estimator that starts from the weights of a first."""

    def run(lib: Any, model_dir: Path) -> None:
        first = str(model_dir / "first")
        lib.Estimator(model(lib), first).train(batches(), steps=1)
        second = lib.Estimator(model(lib), str(model_dir / "second"), warm_start_from=make(lib, first))
        second.train(batches(), steps=1)

    return run


MISTAKES |= {
    "warm start: a folder without a checkpoint": _warm(lambda lib, first: first + "_other"),
    "warm start: a pattern that fits nothing": _warm(lambda lib, first: lib.WarmStartSettings(first, "other.*")),
    "warm start: variables that are not there": _warm(lambda lib, first: lib.WarmStartSettings(first, ["other"])),
    "warm start: a pattern that is a number": _warm(lambda lib, first: lib.WarmStartSettings(first, 1)),
    "warm start: another name that is not there": _warm(
        lambda lib, first: lib.WarmStartSettings(first, var_name_to_prev_var_name={"weight": "other"})
    ),
    "warm start: a name of no variable": _warm(
        lambda lib, first: lib.WarmStartSettings(first, var_name_to_prev_var_name={"other": "weight"})
    ),
    "warm start: a vocabulary of no variable": _warm(
        lambda lib, first: lib.WarmStartSettings(
            first, var_name_to_vocab_info={"other": lib.VocabInfo("a", 1, 0, "b", 1)}
        )
    ),
}
