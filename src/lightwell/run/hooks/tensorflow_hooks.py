"""TensorFlow's own hooks as scheduled hooks: called at the steps at which they act, and at no others.

`scheduled` wraps a hook of exactly one of the known classes (a subclass may do anything in `before_run`). Wrapped, it
does the same at the same steps: its counters are updated before it is called. A hook without the expected private
attributes, because TensorFlow has changed, is not wrapped, and called on every step.
"""

from __future__ import annotations

import math
import time
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_hooks, private_tf
from lightwell.foreign.probes import warn_once
from lightwell.run.hooks.base import NEVER, ScheduledHook, SessionRunValues
from lightwell.run.hooks.save_summaries import summary_of

_v1 = tf.compat.v1.train
_OF_THE_TIMER = ("every_secs", "every_steps", "last_triggered_time")


class _Adapter(ScheduledHook):
    """A hook of TensorFlow that acts on the timer it holds, which counts global steps.

    Attributes:
        required_state: the private attributes that the hook must have.
    """

    required_state: tuple[str, ...] = ("global_step_tensor", "timer")
    judges_each_step = True

    def __init__(self, hook: Any) -> None:
        self._hook = hook

    @property
    def wrapped(self) -> Any:
        """The hook of TensorFlow."""
        return self._hook

    @property
    def _sees_all(self) -> bool:
        """These hooks assume steps of one; with another stride, they see every step."""
        return self.stride != 1

    def begin(self) -> None:
        self._hook.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._hook.after_create_session(session, coord)

    def looks_at(self) -> Any:
        return private_hooks.hook_state(self._hook, "global_step_tensor")

    def next_look(self, global_step: int) -> int:
        return global_step + 1 if self._sees_all else self._next(global_step)

    def next_look_seconds(self) -> float:
        timer = private_hooks.hook_state(self._hook, "timer")
        every = private_hooks.hook_state(timer, "every_secs") if timer is not None else None
        return (
            math.inf
            if every is None
            else (private_hooks.hook_state(timer, "last_triggered_time") or 0) + every - time.time()
        )

    def before_run(self, run_context: Any) -> Any:
        return self._hook.before_run(run_context)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._hook.after_run(run_context, run_values)

    def end(self, session: Any) -> None:
        self._hook.end(session)

    def _next(self, global_step: int) -> int:
        return global_step + 1 + self._steps_to_trigger(global_step + 1)

    def _steps_to_trigger(self, count: int) -> int:
        """How many steps the timer lets pass, if the next one has the number `count`."""
        timer = private_hooks.hook_state(self._hook, "timer")
        if not isinstance(timer, _v1.SecondOrStepTimer):  # one that never triggers
            return NEVER if timer is not None and not timer.should_trigger_for_step(NEVER) else 0
        last, every = timer.last_triggered_step(), private_hooks.hook_state(timer, "every_steps")
        if last is None:
            return 0
        return NEVER if every is None else max(0, math.ceil(last + every - count))


class _LogTensors(_Adapter):
    """`LoggingTensorHook`: its timer counts runs, not global steps."""

    required_state = ("current_tensors", "iter_count", "timer")

    def looks_at(self) -> Any:
        return private_hooks.hook_state(self._hook, "current_tensors")

    def passed(self, steps: int) -> None:
        private_hooks.set_hook_state(self._hook, "iter_count", self._runs() + steps)

    def _runs(self) -> int:
        return int(private_hooks.hook_state(self._hook, "iter_count") or 0)

    def _next(self, global_step: int) -> int:
        return global_step + 1 + self._steps_to_trigger(self._runs())


class _CountSteps(_Adapter):
    """`StepCounterHook`: it also warns about a counter that does not move."""

    required_state = ("global_step_tensor", "last_global_step", "timer")

    def _next(self, global_step: int) -> int:
        stands_still = private_hooks.hook_state(self._hook, "last_global_step") == global_step
        return global_step + 1 if stands_still else super()._next(global_step)


class _SaveSummaries(_Adapter):
    """`SummarySaverHook`: its timer is queried for the step it expects next."""

    required_state = ("global_step_tensor", "next_step", "scaffold", "summary_op", "timer")

    def looks_at(self) -> Any:
        summary_op, scaffold = (
            private_hooks.hook_state(self._hook, "summary_op"),
            private_hooks.hook_state(self._hook, "scaffold"),
        )
        if summary_op is None and scaffold is not None:
            summary_op = summary_of(scaffold)
        return [super().looks_at(), [] if summary_op is None else summary_op]

    def before_run(self, run_context: Any) -> Any:
        if not self._sees_all and private_hooks.hook_state(self._hook, "next_step") is not None:
            private_hooks.set_hook_state(self._hook, "next_step", run_context.count + 1)
        return super().before_run(run_context)


class _StopAtStep(_Adapter):
    """`StopAtStepHook`."""

    required_state = ("global_step_tensor", "last_step")

    def _next(self, global_step: int) -> int:
        return max(global_step + 1, int(private_hooks.hook_state(self._hook, "last_step") or 0))


class _GuardLoss(_Adapter):
    """`NanTensorHook` on the loss that is trained on."""

    required_state = ("loss_tensor",)
    sees_nan = True

    def looks_at(self) -> Any:
        return None

    def before_run(self, run_context: Any) -> Any:
        return None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        values = SessionRunValues(run_context.loss_value, run_values.options, run_values.run_metadata)
        self._hook.after_run(run_context, values)

    def _next(self, global_step: int) -> int:
        return NEVER


_ADAPTERS: dict[Any, type[_Adapter]] = {
    _v1.CheckpointSaverHook: _Adapter,
    _v1.LoggingTensorHook: _LogTensors,
    _v1.NanTensorHook: _GuardLoss,
    _v1.StepCounterHook: _CountSteps,
    _v1.StopAtStepHook: _StopAtStep,
    _v1.SummarySaverHook: _SaveSummaries,
}


def scheduled(hook: Any, loss: Any) -> Any:
    """The hook as a scheduled one, if it is one of TensorFlow's own that has an adapter; else itself.

    Args:
        hook: any hook.
        loss: the loss that is trained on; None outside of training, where the global step stands still.
    """
    if loss is None and type(hook) is not _v1.LoggingTensorHook:
        return hook
    adapter = _ADAPTERS.get(type(hook))
    if adapter is None or not _is_understood(type(hook), adapter):
        return hook
    if adapter is _GuardLoss:
        watched = private_hooks.hook_state(hook, "loss_tensor")
        return _GuardLoss(hook) if getattr(watched, "name", watched) == loss.name else hook
    return adapter(hook)


def _is_understood(kind: type, adapter: type[_Adapter]) -> bool:
    """Whether a class of hooks has the attributes that its adapter needs; if not, a warning says so."""
    missing = private_hooks.missing_hook_state(kind, adapter.required_state)
    if "timer" in adapter.required_state:
        missing += private_hooks.missing_hook_state(_v1.SecondOrStepTimer, _OF_THE_TIMER)
    if missing:
        loss = f"A {kind.__name__} is called on every step, and steps are not fused beside it."
        warn_once(private_tf.release(), tuple(missing), loss)
    return not missing
