"""Many hooks as one: calls them in order, merges what they ask for, hands back what they asked for.

The order is the list's, in every phase. An exception of a hook goes through, and the hooks after it are not called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import HookError
from lightwell.hooks.base import NEVER, ScheduledHook, SessionRunArgs, SessionRunHook, SessionRunValues
from lightwell.hooks.context import RunContext
from lightwell.hooks.explain import EXPLAINABLE, called_hook, explained
from lightwell.hooks.late import has_late, joined, with_step

_FETCHABLE = (tf.Tensor, tf.Operation, tf.Variable)
_DENSE = 8  # recording a step costs a fraction of stopping at one


class Request:
    """What one run shall fetch and feed on behalf of the hooks."""

    __slots__ = ("asked", "due", "feeds", "late", "options")

    def __init__(self) -> None:
        self.due: list[Any] = []
        self.asked: dict[int, Any] = {}  # by the id of the hook: hooks need be neither hashable nor unequal
        self.late: dict[int, Any] = {}  # what those asked for that want something read once the step is over
        self.feeds: dict[Any, Any] = {}
        self.options: Any = None


class HookChain:
    """The hooks of a run."""

    def __init__(self, hooks: Sequence[Any], find: Callable[[str, str], Any] | None = None) -> None:
        self.hooks = tuple(hooks)
        self._find = find
        self._around_steps = tuple(hook for hook in self.hooks if _acts_around_steps(hook))
        self._scheduled = tuple(hook for hook in self._around_steps if isinstance(hook, ScheduledHook))
        self._counting = tuple(hook for hook in self._scheduled if type(hook).passed is not ScheduledHook.passed)
        self._of_every_step = self.unscheduled
        self._by_the_clock = tuple(hook for hook in self._scheduled if _has_a_clock(hook))
        self._told_in_bulk: tuple[ScheduledHook, ...] = ()
        self._stride = 1
        self._quiet = (0, 0)  # before the steps from here up to there, no scheduled hook need be asked
        self._no_options = tf.compat.v1.RunOptions()

    @property
    def unscheduled(self) -> tuple[Any, ...]:
        """The hooks that must see every step."""
        return tuple(hook for hook in self._around_steps if not isinstance(hook, ScheduledHook))

    def looks_at(self) -> list[tuple[ScheduledHook, Any]]:
        """The scheduled hooks with all that they may ask for; to be called after `begin`."""
        looks = [(hook, hook.looks_at()) for hook in self._scheduled]
        return [(hook, with_step(_found(look, hook, self._find))) for hook, look in looks if look is not None]

    def tell_in_bulk(self, hooks: Sequence[ScheduledHook]) -> None:
        """From now on these hooks are told of steps in bulk: nobody has to stop at a step for their sake."""
        self._told_in_bulk = tuple(hooks)

    def counter_moves_by(self, stride: int) -> None:
        """A step moves the global step by so much; one until told otherwise."""
        if stride != self._stride:
            self._stride = stride
            self._quiet = (0, 0)
            for hook in self._scheduled:
                hook.counter_moves_by(stride)

    def passed(self, steps: int, seen_by: Sequence[Any] = ()) -> None:
        """So many steps have run, which only the hooks in `seen_by` were told of."""
        for hook in self._counting:
            if not _is_among(hook, seen_by):
                hook.passed(steps)

    def next_look(self, global_step: int) -> int:
        """The first step after `global_step` that a scheduled hook must see; told by the clock, it is the next one."""
        waited_for = [hook for hook in self._scheduled if not self._is_told_later(hook, global_step)]
        if any(hook.next_look_seconds() <= 0 for hook in waited_for):
            return global_step + 1
        return max(global_step + 1, min((hook.next_look(global_step) for hook in waited_for), default=NEVER))

    def next_look_seconds(self) -> float:
        """The time until a scheduled hook must see a step, whichever it is."""
        return min((hook.next_look_seconds() for hook in self._scheduled), default=math.inf)

    def bulk_is_due(self, global_step: int, until: int) -> bool:
        """Whether a hook that is told in bulk looks at a step after `global_step`, up to `until`."""
        return any(
            self._is_told_later(hook, global_step) and hook.next_look(global_step) <= until
            for hook in self._told_in_bulk
        )

    def _is_due(self, hook: Any, global_step: int | None) -> bool:
        """Whether the step that moves the counter on from `global_step` is one the hook must see."""
        if global_step is None or not isinstance(hook, ScheduledHook):
            return True
        return hook.next_look(global_step) <= global_step + max(self._stride, 1) or hook.next_look_seconds() <= 0

    def _only_every_step(self, global_step: int) -> bool:
        """Whether of the step that moves the counter on from `global_step` only the hooks that see all must be told.

        What scheduled hooks said holds until one of them is called, as where steps run in one call; most steps are none
        of theirs, and need not ask each of them.
        """
        first, last = self._quiet
        if not first <= global_step < last:
            last = min((hook.next_look(global_step) for hook in self._scheduled), default=NEVER)
            last -= max(self._stride, 1)
            self._quiet = (global_step, last)
        if global_step < last and all(hook.next_look_seconds() > 0 for hook in self._by_the_clock):
            return True
        self._quiet = (0, 0)
        return False

    def _is_told_later(self, hook: ScheduledHook, global_step: int) -> bool:
        """Whether steps need not stop for this hook: it takes them in bulk, and looks at enough of them to be worth
        recording all."""
        if not _is_among(hook, self._told_in_bulk):
            return False
        look = hook.next_look(global_step)
        return hook.next_look(look) - look <= _DENSE

    def begin(self) -> None:
        """Before the graph is final: hooks may still add to it."""
        for hook in self.hooks:
            self._call(hook, "begin")

    def after_create_session(self, session: Any, coordinator: Any) -> None:
        """A session is open and initialised; called again for each new session after a lost one."""
        self._quiet = (0, 0)
        for hook in self.hooks:
            self._call(hook, "after_create_session", session, coordinator)

    def before_run(self, context: RunContext, *, in_bulk: bool = False) -> Request:
        """Asks the hooks that are due what they want of the coming run; `in_bulk`, only those that are told later."""
        request = Request()
        step = context.global_step
        if in_bulk:
            request.due = [hook for hook in self._told_in_bulk if self._is_due(hook, step)]
        elif step is not None and self._only_every_step(step):
            request.due = list(self._of_every_step)
        else:
            request.due = [hook for hook in self._around_steps if self._is_due(hook, step)]
        for hook in request.due:
            args = self._call(hook, "before_run", context)
            if args is not None:
                _merge(request, hook, args, self._find)
        return request

    def after_run(
        self,
        context: RunContext,
        request: Request,
        results: Mapping[Any, Any],
        metadata: Any,
        *,
        show_nan: bool = True,
    ) -> None:
        """Hands each hook that was due its results; a loss that is NaN is shown to those who want to know, too."""
        due = request.due
        if show_nan and context.loss_value is not None and math.isnan(context.loss_value):
            due = [hook for hook in self._around_steps if _is_among(hook, due) or _sees_nan(hook)]
            self._quiet = (0, 0)
        options = self._no_options if request.options is None else request.options
        # Before the first hook is told: what one does must not show in what another reads.
        waited = {who: joined(asked, results[who], context.session.run) for who, asked in request.late.items()}
        for hook in due:
            values = SessionRunValues(waited.get(id(hook), results.get(id(hook))), options, metadata)
            self._call(hook, "after_run", context, values)

    def end(self, session: Any) -> None:
        """The run is over, without an error."""
        for hook in self.hooks:
            self._call(hook, "end", session)

    def _call(self, hook: Any, method: str, *args: Any) -> Any:
        """Calls a hook; where TensorFlow says too little about what it did wrong, the exception says more."""
        before = called_hook.set(hook)
        try:
            return getattr(hook, method)(*args)
        except EXPLAINABLE as error:
            better = explained(error, hook, method, self._find)
            if better is None:
                raise
            raise better from error
        finally:
            called_hook.reset(before)

    def close(self) -> None:
        """The run is over, in whatever way."""
        for hook in self.hooks:
            if isinstance(hook, ScheduledHook):
                hook.close()


def _acts_around_steps(hook: Any) -> bool:
    """Whether the hook does anything in `before_run` or `after_run`; many only use `begin`, or the session."""
    kind = type(hook)
    if kind.before_run is not SessionRunHook.before_run or kind.after_run is not SessionRunHook.after_run:
        return True
    return "before_run" in vars(hook) or "after_run" in vars(hook)  # set on the object, as test doubles do


def _has_a_clock(hook: ScheduledHook) -> bool:
    asked = type(hook).next_look_seconds
    return asked is not ScheduledHook.next_look_seconds or "next_look_seconds" in vars(hook)


def _is_among(hook: Any, hooks: Sequence[Any]) -> bool:
    return any(hook is one for one in hooks)


def _sees_nan(hook: Any) -> bool:
    return isinstance(hook, ScheduledHook) and hook.sees_nan


def _merge(request: Request, hook: Any, args: Any, find: Callable[[str, str], Any] | None) -> None:
    if not isinstance(args, SessionRunArgs):
        raise HookError(
            f"{type(hook).__name__}.before_run must return a SessionRunArgs or None, got {type(args).__name__}. "
            "Wrap the fetches: tf.compat.v1.train.SessionRunArgs(fetches)."
        )
    if args.fetches is not None:
        found = _found(args.fetches, hook, find)
        if has_late(found):
            request.late[id(hook)], found = found, with_step(found)
        request.asked[id(hook)] = found
    for key, value in (args.feed_dict or {}).items():
        if any(key is other for other in request.feeds):
            raise HookError(f"Same tensor is fed by two hooks: {key!r}; the second one is {type(hook).__name__}.")
        request.feeds[key] = value
    if args.options is not None:
        request.options = _merged_options(request.options, args.options)


def _found(fetches: Any, hook: Any, find: Callable[[str, str], Any] | None) -> Any:
    """The fetches with every path in place of a tensor looked up."""
    if find is None or isinstance(fetches, _FETCHABLE):
        return fetches
    if isinstance(fetches, str):
        return find(fetches, f"{type(hook).__name__}.before_run")
    if isinstance(fetches, Mapping):
        same_type: Any = type(fetches)
        return same_type((key, _found(value, hook, find)) for key, value in fetches.items())
    if isinstance(fetches, list):
        return [_found(value, hook, find) for value in fetches]
    if isinstance(fetches, tuple):
        parts = [_found(value, hook, find) for value in fetches]
        return type(fetches)(*parts) if hasattr(fetches, "_fields") else tuple(parts)
    return fetches


def _merged_options(first: Any, second: Any) -> Any:
    """Run options that satisfy both: the finer trace, the sum of the times out, partition graphs if either wants
    them."""
    merged = tf.compat.v1.RunOptions()
    if first is not None:
        merged.CopyFrom(first)
    merged.trace_level = max(merged.trace_level, second.trace_level)
    merged.timeout_in_ms += second.timeout_in_ms
    merged.inter_op_thread_pool = max(merged.inter_op_thread_pool, second.inter_op_thread_pool)
    merged.output_partition_graphs = merged.output_partition_graphs or second.output_partition_graphs
    merged.report_tensor_allocations_upon_oom |= second.report_tensor_allocations_upon_oom
    merged.debug_options.debug_tensor_watch_opts.extend(second.debug_options.debug_tensor_watch_opts)
    return merged
