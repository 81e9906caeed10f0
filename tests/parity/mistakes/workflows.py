"""TrainSpec, EvalSpec, train_and_evaluate and exporters with what they cannot be given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tests.parity.hook_scenes import batches
from tests.parity.mistakes.base import Mistake
from tests.parity.mistakes.verbs import model
from tests.parity.run_configs import environment
from tests.parity.spies import SpyHook, SpyListener

MISTAKES: dict[str, Mistake] = {}
_NUMBERS = {"0": 0, "-1": -1, "0.5": 0.5, "text": "a", "None": None}
_HOOKS = {
    "a number": 1,
    "a list of a number": [1],
    "a list of the class": [SpyHook],
    "one hook": SpyHook("A", []),
    "a tuple": (SpyHook("A", []),),
    "a dict": {},
}
_INPUT_FNS = {
    "None": None,
    "a number": 1,
    "a dict": {"x": 1},
    "a function of another argument": lambda other: None,
    "a function of two arguments": lambda mode, other: None,
    "an array": np.zeros(2),
}
TRAIN: dict[str, dict[str, Any]] = {
    "input_fn": _INPUT_FNS,
    "max_steps": _NUMBERS,
    "hooks": _HOOKS,
    "saving_listeners": {"a number": 1, "a list of a number": [1], "one listener": SpyListener("L", [])},
}


class _Named:
    """Has the name of an exporter, and nothing else of one."""

    name = "a"


def _latest(lib: Any, name: Any = "a", receiver_fn: Any = lambda: None, **arguments: Any) -> Any:
    return lib.LatestExporter(name, receiver_fn, **arguments)


EVAL: dict[str, dict[str, Any]] = {
    "input_fn": _INPUT_FNS,
    "steps": _NUMBERS,
    "name": {"a number": 1, "empty": "", "a list": ["a"]},
    "hooks": _HOOKS,
    "start_delay_secs": _NUMBERS,
    "throttle_secs": _NUMBERS,
    "exporters": {
        "a number": 1,
        "text": "a",
        "a list of a number": [1],
        "a list of None": [None],
        "a list of the class": [_Named],
        "a dict": {"a": 1},
        "what is none": _Named(),
        "a list of what is none": [_Named()],
    },
}


def _spec(kind: str, argument: str, value: Any) -> Mistake:
    return lambda lib, model_dir: getattr(lib, kind)(**{"input_fn": batches(), argument: value})


for _kind, _arguments in {"TrainSpec": TRAIN, "EvalSpec": EVAL}.items():
    for _argument, _values in _arguments.items():
        for _what, _value in _values.items():
            MISTAKES[f"{_kind}: {_argument} is {_what}"] = _spec(_kind, _argument, _value)


def _exporters(make: Any) -> Mistake:
    return lambda lib, model_dir: lib.EvalSpec(batches(), exporters=make(lib))


MISTAKES |= {
    "TrainSpec: an unknown argument": _spec("TrainSpec", "other", 1),
    "EvalSpec: an unknown argument": _spec("EvalSpec", "other", 1),
    "EvalSpec: one exporter": _exporters(_latest),
    "EvalSpec: exporters of one name": _exporters(lambda lib: [_latest(lib), _latest(lib)]),
    "EvalSpec: an exporter and a number": _exporters(lambda lib: [_latest(lib), 1]),
    "TrainSpec: max_steps is set": lambda lib, model_dir: setattr(lib.TrainSpec(batches()), "max_steps", 1),
}

EXPORTERS: dict[str, dict[str, Any]] = {
    "name": {"None": None, "empty": "", "a number": 1},
    "serving_input_receiver_fn": {"None": None, "a number": 1, "a function of an argument": lambda other: None},
    "exports_to_keep": _NUMBERS,
    "assets_extra": {"a number": 1, "a list": ["a"]},
    "compare_fn": {
        "None": None,
        "a number": 1,
        "of no arguments": lambda: True,
        "of other arguments": lambda best, current: True,
        "of one argument": lambda best_eval_result: True,
        "of three arguments": lambda best_eval_result, current_eval_result, other: True,
    },
    "event_file_pattern": {"None": None, "a number": 1, "empty": ""},
}
_TAKEN = {
    "LatestExporter": ("name", "serving_input_receiver_fn", "exports_to_keep", "assets_extra"),
    "FinalExporter": ("name", "serving_input_receiver_fn", "assets_extra"),
    "BestExporter": tuple(EXPORTERS),
}


def _exporter(kind: str, argument: str, value: Any) -> Mistake:
    usual = {"name": "a", "serving_input_receiver_fn": lambda: None}
    return lambda lib, model_dir: getattr(lib, kind)(**{**usual, argument: value})


for _kind, _taken in _TAKEN.items():
    for _argument in _taken:
        for _what, _value in EXPORTERS[_argument].items():
            MISTAKES[f"{_kind}: {_argument} is {_what}"] = _exporter(_kind, _argument, _value)
MISTAKES["Exporter is made itself"] = lambda lib, model_dir: lib.Exporter()


def _workflow(estimator: Any = None, train: Any = None, evaluate: Any = None, tf_config: Any = None) -> Mistake:
    """`train_and_evaluate` with an argument replaced, as a task of a cluster if `tf_config` says so."""

    def run(lib: Any, model_dir: Path) -> None:
        with environment(tf_config or {}):
            made = lib.Estimator(model(lib), str(model_dir)) if estimator is None else estimator
            to_train = lib.TrainSpec(batches(), max_steps=1) if train is None else train(lib)
            to_evaluate = lib.EvalSpec(batches(1), steps=1) if evaluate is None else evaluate(lib)
            lib.train_and_evaluate(made, to_train, to_evaluate)

    return run


def _task(kind: str, index: int = 0, *absent: str) -> dict[str, Any]:
    cluster = {"chief": ["localhost:1"], "worker": ["localhost:2"], "ps": ["localhost:3"]}
    return {
        "cluster": {job: hosts for job, hosts in cluster.items() if job not in absent},
        "task": {"type": kind, "index": index},
    }


def _metrics(best_eval_result: Any, current_eval_result: Any) -> bool:
    return bool(current_eval_result["other"] < best_eval_result["other"])


MISTAKES |= {
    "train_and_evaluate: the estimator is text": _workflow(estimator="a"),
    "train_and_evaluate: the estimator is a number": _workflow(estimator=1),
    "train_and_evaluate: train_spec is None": _workflow(train=lambda lib: None),
    "train_and_evaluate: train_spec is an input_fn": _workflow(train=lambda lib: batches()),
    "train_and_evaluate: train_spec is a dict": _workflow(train=lambda lib: {}),
    "train_and_evaluate: train_spec is the class": _workflow(train=lambda lib: lib.TrainSpec),
    "train_and_evaluate: eval_spec is None": _workflow(evaluate=lambda lib: None),
    "train_and_evaluate: eval_spec is a number": _workflow(evaluate=lambda lib: 1),
    "train_and_evaluate: the specs are exchanged": _workflow(
        train=lambda lib: lib.EvalSpec(batches()), evaluate=lambda lib: lib.TrainSpec(batches())
    ),
    "train_and_evaluate: an unknown task": _workflow(tf_config=_task("other")),
    "train_and_evaluate: an evaluator with an index": _workflow(tf_config=_task("evaluator", 1)),
    "train_and_evaluate: a ps without one": _workflow(tf_config=_task("ps", 0, "ps")),
    "train_and_evaluate: no data": _workflow(train=lambda lib: lib.TrainSpec(batches(0), max_steps=1)),
    "train_and_evaluate: an evaluation without data": _workflow(
        evaluate=lambda lib: lib.EvalSpec(batches(0), steps=None)
    ),
    "train_and_evaluate: an exporter without a receiver": _workflow(
        evaluate=lambda lib: lib.EvalSpec(batches(1), exporters=lib.FinalExporter("a", lambda: None))
    ),
}
