"""The arguments of `train_and_evaluate`: `TrainSpec`, how to train, and `EvalSpec`, what and how often to evaluate.

They are the named tuples of `tf.estimator`, validated by the constructor. Fields that Lightwell adds to `EvalSpec` are
attributes and no part of the tuple, so that it unpacks as before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError, WrongType
from lightwell.estimator.arguments import check_steps
from lightwell.estimator.workflow.exporters import checked_exporters
from lightwell.model.spec import checked_hooks

DEFAULT_THROTTLE_SECS = 600


class _TrainFields(NamedTuple):
    input_fn: Callable[..., Any]
    max_steps: int | None
    hooks: tuple[Any, ...]
    saving_listeners: tuple[Any, ...]


class TrainSpec(_TrainFields):
    """How to train.

    Args:
        input_fn: gives the training data, as for `Estimator.train`.
        max_steps: up to which global step to train. None: to the end of the data, which must then have one.
        hooks: `SessionRunHook`s around each training step.
        saving_listeners: `CheckpointSaverListener`s, told of each checkpoint before it is evaluated.

    Raises:
        WrongType: an argument has the wrong type.
        UsageError: `max_steps` is not positive.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        max_steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        saving_listeners: Sequence[Any] | None = None,
    ) -> TrainSpec:
        _check_input_fn(input_fn, "TrainSpec")
        _check_number("max_steps", max_steps, "TrainSpec", "to train to the end of the data")
        return super().__new__(
            cls, input_fn, max_steps, _hooks(hooks, "TrainSpec"), _listeners(saving_listeners, "TrainSpec")
        )

    def _replace(self, **changes: Any) -> TrainSpec:  # that of a named tuple would skip the checks
        _check_fields(changes, self._fields, "TrainSpec")
        return type(self)(**{**self._asdict(), **changes})


class _EvalFields(NamedTuple):
    input_fn: Callable[..., Any]
    steps: int | None
    name: str | None
    hooks: tuple[Any, ...]
    exporters: tuple[Any, ...]
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_EvalFields):
    """On what to evaluate while training, how often, and what to export then.

    Checkpoints are what is evaluated: `RunConfig(save_checkpoints_steps=...)` or `save_checkpoints_secs` says how often
    there is one. The last one is evaluated in any case.

    Args:
        input_fn: gives the evaluation data, as for `Estimator.evaluate`.
        steps: how many batches to look at; None for all of them.
        name: keeps several evaluations apart: events go to `eval_<name>/`, and results are found by it.
        hooks: `SessionRunHook`s around each batch.
        exporters: an `Exporter`, or several: each is called after each evaluation, and exports to
            `model_dir/export/<its name>`.
        start_delay_secs: how long an evaluator of a cluster waits before its first evaluation; of no effect where one
            process trains and evaluates.
        throttle_secs: how many seconds at least lie between the starts of two evaluations.
        every_steps: evaluate whenever the global step passes a multiple of this, instead of by `throttle_secs`. A
            checkpoint is saved there if none is due.
        every_checkpoints: evaluate every so many checkpoints, instead of by `throttle_secs`.

    Raises:
        WrongType: an argument has the wrong type.
        UsageError: a number is out of range, exporters share a name, or two cadences are given.
    """

    every_steps: int | None
    every_checkpoints: int | None

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Sequence[Any] | None = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = DEFAULT_THROTTLE_SECS,
        *,
        every_steps: int | None = None,
        every_checkpoints: int | None = None,
    ) -> EvalSpec:
        _check_input_fn(input_fn, "EvalSpec")
        _check_number("steps", steps, "EvalSpec", "to evaluate to the end of the data")
        if name is not None and not isinstance(name, str):
            raise WrongType(
                f"EvalSpec: `name` must be string, given: {type(name).__name__} {name!r}. It becomes part of the "
                "directory eval_<name>; leave it out for the directory eval."
            )
        _check_seconds("start_delay_secs", start_delay_secs)
        _check_seconds("throttle_secs", throttle_secs)
        _check_cadence(every_steps, every_checkpoints, throttle_secs)
        fields = (input_fn, steps, name, _hooks(hooks, "EvalSpec"), checked_exporters(exporters))
        spec = super().__new__(cls, *fields, start_delay_secs, throttle_secs)
        spec.every_steps, spec.every_checkpoints = every_steps, every_checkpoints
        return spec

    def __eq__(self, other: object) -> bool:
        if isinstance(other, EvalSpec) and self._cadence() != other._cadence():
            return False
        return tuple.__eq__(self, other) if isinstance(other, tuple) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    def __repr__(self) -> str:
        set_ones = "".join(f", {name}={value!r}" for name, value in self._cadence().items() if value is not None)
        return f"{super().__repr__()[:-1]}{set_ones})"

    def _replace(self, **changes: Any) -> EvalSpec:  # that of a named tuple would skip the checks
        _check_fields(changes, (*self._fields, *self._cadence()), "EvalSpec")
        return type(self)(**{**self._asdict(), **self._cadence(), **changes})

    def _cadence(self) -> dict[str, int | None]:
        return {"every_steps": self.every_steps, "every_checkpoints": self.every_checkpoints}


def _check_input_fn(input_fn: Any, where: str) -> None:
    if not callable(input_fn):
        raise WrongType(
            f"{where}: `input_fn` must be callable, given: {type(input_fn).__name__} {input_fn!r}. Expected a function "
            f"that returns the data; wrap what you have: {where}(input_fn=lambda: ...)."
        )


def _check_number(what: str, value: Any, where: str, without: str) -> None:
    try:
        check_steps(what, value)
    except WrongType as error:
        raise WrongType(f"{where}: {error} Leave it out, or say None, {without}.") from None
    except UsageError:
        raise UsageError(f"{where}: Must specify {what} > 0, given: {value}. Say None {without}.") from None


def _check_seconds(what: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise WrongType(f"EvalSpec: {what} must be a number of seconds, given: {type(value).__name__} {value!r}.")
    if value < 0:
        raise UsageError(f"EvalSpec: Must specify {what} >= 0, given: {value}. Say 0 for no wait at all.")


def _check_cadence(every_steps: Any, every_checkpoints: Any, throttle_secs: Any) -> None:
    for what, value in (("every_steps", every_steps), ("every_checkpoints", every_checkpoints)):
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise WrongType(f"EvalSpec: {what} must be a whole number, given: {type(value).__name__} {value!r}.")
        if value <= 0:
            raise UsageError(f"EvalSpec: Must specify {what} > 0, given: {value}. 1 evaluates as often as can be.")
    if every_steps is not None and every_checkpoints is not None:
        raise UsageError(
            f"EvalSpec: Can not provide both every_steps and every_checkpoints, given: every_steps={every_steps} and "
            f"every_checkpoints={every_checkpoints}. Leave one out."
        )
    if (every_steps or every_checkpoints) and throttle_secs not in (0, DEFAULT_THROTTLE_SECS):
        what = "every_steps" if every_steps else "every_checkpoints"
        raise UsageError(
            f"EvalSpec: Can not provide both {what} and throttle_secs, given: "
            f"{what}={every_steps or every_checkpoints} and throttle_secs={throttle_secs}. Leave one out: "
            "evaluations come by steps, by checkpoints or by seconds."
        )


def _hooks(hooks: Any, where: str) -> tuple[Any, ...]:
    hook_tuple = _all_of(hooks, f"{where}: hooks", "SessionRunHook")
    return checked_hooks(hook_tuple, f"{where}: hooks", "All hooks must be `SessionRunHook` instances")


def _listeners(listeners: Any, where: str) -> tuple[Any, ...]:
    kind = tf.compat.v1.train.CheckpointSaverListener
    listener_tuple = _all_of(listeners, f"{where}: saving_listeners", "CheckpointSaverListener")
    wrong = [one for one in listener_tuple if not isinstance(one, kind)]
    if wrong:
        raise WrongType(
            f"{where}: All saving_listeners must be `CheckpointSaverListener` instances, given: {wrong[0]!r}. Derive "
            "it from tf.compat.v1.train.CheckpointSaverListener."
        )
    return listener_tuple


def _all_of(values: Any, where: str, kind: str) -> tuple[Any, ...]:
    try:
        return tuple(values or ())
    except TypeError:
        raise WrongType(f"{where} must be a list of {kind}, given: {values!r}. Put it in a list.") from None


def _check_fields(changes: dict[str, Any], known: Sequence[str], where: str) -> None:
    unknown = sorted(changes.keys() - set(known))
    if unknown:
        raise UsageError(f"{where} has no fields {unknown}; it has {list(known)}.")
