"""`HookChain`: calls the hooks of a run in order, merges their requests, and hands each its results.

The order is the list's, in every phase. An exception of a hook goes through, and the hooks after it are not called.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import HookError
from lightwell.run.hooks.base import NEVER, Find, ScheduledHook, SessionRunArgs, SessionRunHook, SessionRunValues
from lightwell.run.hooks.context import RunContext
from lightwell.run.hooks.explain import EXPLAINABLE, explained
from lightwell.run.hooks.outside_steps import runs_outside_steps
from lightwell.run.hooks.stop_at_step import StopAtStep
from lightwell.run.hooks.variables_after_step import VariablesAfterStep, is_tensorflow_1

_DENSE = 8  # storing the values of a step costs a fraction of stopping at it


class HookRequest:
    """What one step fetches and feeds on behalf of the hooks.

    Attributes:
        due: the hooks to call.
        fetches: by the id of a hook, what it fetches: hooks need be neither hashable nor unequal.
        feeds: the merged feeds.
        options: the merged run options; None for none.
    """

    __slots__ = ("due", "feeds", "fetches", "options")

    def __init__(self) -> None:
        self.due: list[Any] = []
        self.fetches: dict[int, Any] = {}
        self.feeds: dict[Any, Any] = {}
        self.options: Any = None


class HookChain:
    """The hooks of a run."""

    def __init__(self, hooks: Sequence[Any], find: Find | None = None) -> None:
        self.hooks = tuple(hooks)
        self._find = find
        self._by_id = {id(hook): hook for hook in self.hooks}
        self._around_steps = tuple(hook for hook in self.hooks if _acts_around_steps(hook))
        self._scheduled = tuple(hook for hook in self._around_steps if isinstance(hook, ScheduledHook))
        self._counting = tuple(hook for hook in self._scheduled if type(hook).passed is not ScheduledHook.passed)
        self._of_every_step = self.unscheduled
        self._timed = tuple(hook for hook in self._scheduled if _looks_by_time(hook))
        self._bulk_hooks: Mapping[int, ScheduledHook] = {}
        self._stride: int | None = 1
        self._quiet = (0, 0)  # a range of counts in which no scheduled hook is due
        self._last_request: tuple[int, Sequence[Any]] | None = None  # the count of the last step, and the hooks called
        self._no_options = tf.compat.v1.RunOptions()
        self._read_variables = VariablesAfterStep() if is_tensorflow_1() else None

    @property
    def unscheduled(self) -> tuple[Any, ...]:
        """The hooks that must see every step."""
        return tuple(hook for hook in self._around_steps if not isinstance(hook, ScheduledHook))

    @property
    def outside_steps(self) -> tuple[Any, ...]:
        """The hooks that may run ops of the model outside of its steps."""
        return tuple(getattr(hook, "wrapped", hook) for hook in self.hooks if runs_outside_steps(hook))

    @property
    def keep_to_context(self) -> bool:
        """Whether no hook keeps a reference to the graph or the session."""
        return all(isinstance(hook, ScheduledHook) and hook.keeps_to_context for hook in self.hooks)

    @property
    def goal(self) -> float:
        """The count at which one of them will stop the run; infinite where none knows."""
        goals = [hook.last_step for hook in self.hooks if isinstance(hook, StopAtStep) and hook.last_step is not None]
        return min(goals, default=math.inf)

    def looks_at(self) -> dict[int, Any]:
        """By the id of each scheduled hook, all that it may fetch; to be called after `begin`."""
        looks = {id(hook): hook.looks_at() for hook in self._scheduled}
        return {key: look for key, look in looks.items() if look is not None}

    def find(self, key: int, name: str) -> Any:
        """Resolves a name or a path that the hook with the id `key` fetches."""
        return name if self._find is None else self._find(name, f"{type(self._by_id[key]).__name__}.before_run")

    def can_report_in_bulk(self, key: int) -> bool:
        """Whether the hook with the id `key` only records."""
        return bool(self._by_id[key].in_bulk)

    def report_in_bulk(self, keys: Sequence[int]) -> None:
        """From now on the hooks with these ids are called in bulk: the run does not stop at a step for them."""
        self._bulk_hooks = {key: self._by_id[key] for key in keys}

    def count_moves_by(self, stride: int | None) -> None:
        """Each step moves the count by `stride`; None where that is known only after a step.

        Then a hook may have to see any step: `before_run` of all is called, and afterwards `after_run` of those whose
        next look is among the counts that the step passed.
        """
        self._stride = stride
        for hook in self._scheduled:
            hook.stride = stride or 0

    def passed(self, steps: int, seen_by: Sequence[Any] = ()) -> None:
        """Tells hooks that count that `steps` steps have run, except those in `seen_by`, which were called."""
        called = set(map(id, seen_by))
        for hook in self._counting:
            if id(hook) not in called:
                hook.passed(steps)

    def next_look(self, count: int) -> int:
        """The first count after `count` whose step a scheduled hook must see; the next one for a look due by time."""
        blocking = [hook for hook in self._scheduled if not self._is_deferred(hook, count)]
        if any(hook.next_look_seconds() <= 0 for hook in blocking):
            return count + 1
        return max(count + 1, min((hook.next_look(count) for hook in blocking), default=NEVER))

    def next_look_seconds(self) -> float:
        """The time until a scheduled hook must see a step, whichever it is."""
        return min((hook.next_look_seconds() for hook in self._scheduled), default=math.inf)

    def bulk_is_due(self, count: int, until: int) -> bool:
        """Whether a hook that is called in bulk looks at a step after `count`, up to `until`."""
        return any(
            self._is_deferred(hook, count) and hook.next_look(count) <= until for hook in self._bulk_hooks.values()
        )

    def _is_due(self, hook: Any, count: int) -> bool:
        """Whether the step that moves the count on from `count` is one the hook must see."""
        if not isinstance(hook, ScheduledHook):
            return True
        look = hook.next_look(count)
        if self._stride is None and look < NEVER:
            return True
        if look <= count + (self._stride or 1) or hook.next_look_seconds() <= 0:
            return True
        return self._was_passed_over(hook, count)

    def _was_passed_over(self, hook: ScheduledHook, count: int) -> bool:
        """Whether the count has skipped the look of a hook: other processes of a cluster move it too."""
        if self._last_request is None or self._last_request[0] + (self._stride or 1) >= count:
            return False
        before, called = self._last_request
        return not _is_among(hook, called) and hook.next_look(before) <= count

    def _only_every_step(self, count: int) -> bool:
        """Whether the step that moves the count on from `count` concerns only the hooks that see every step.

        The answers of scheduled hooks hold until one of them is called, so most steps need not query each of them.
        """
        if self._stride is None:
            return False
        first, last = self._quiet
        if first < last < count:  # the count has jumped, maybe over a look
            self._quiet = (0, 0)
            return False
        if not first <= count < last:
            last = min((hook.next_look(count) for hook in self._scheduled), default=NEVER)
            last -= self._stride
            self._quiet = (count, last)
        if count < last and all(hook.next_look_seconds() > 0 for hook in self._timed):
            return True
        self._quiet = (0, 0)
        return False

    def _is_deferred(self, hook: ScheduledHook, count: int) -> bool:
        """Whether steps need not stop for this hook: it is called in bulk, and looks at enough steps to make storing
        the values of all worthwhile."""
        if id(hook) not in self._bulk_hooks:
            return False
        look = hook.next_look(count)
        return hook.next_look(look) - look <= _DENSE

    def begin(self) -> None:
        """Before the graph is final: hooks may still add to it."""
        for hook in self.hooks:
            self._call(hook, "begin")

    def after_create_session(self, session: Any, coordinator: Any) -> None:
        """A session is open and initialised; called again for each new session after a lost one."""
        self._quiet, self._last_request = (0, 0), None
        for hook in self.hooks:
            self._call(hook, "after_create_session", session, coordinator)

    def before_run(self, context: RunContext, *, in_bulk: bool = False) -> HookRequest:
        """Collects the requests of the hooks that are due for the coming step; `in_bulk`, only of deferred ones."""
        request = HookRequest()
        count = context.count
        if in_bulk:
            request.due = [hook for hook in self._bulk_hooks.values() if self._is_due(hook, count)]
        elif self._only_every_step(count):
            request.due = list(self._of_every_step)
        else:
            request.due = [hook for hook in self._around_steps if self._is_due(hook, count)]
        self._last_request = count, request.due
        for hook in request.due:
            args = self._call(hook, "before_run", context)
            if args is not None:
                _merge(request, hook, args)
        if self._read_variables is not None:
            for key, fetches in request.fetches.items():
                if not isinstance(self._by_id[key], ScheduledHook):
                    request.fetches[key] = self._read_variables.of(fetches)
        return request

    def after_run(
        self,
        context: RunContext,
        request: HookRequest,
        results: Mapping[Any, Any],
        metadata: Any,
        *,
        show_nan: bool = True,
    ) -> None:
        """Hands each due hook its results; a NaN loss also calls the hooks with `sees_nan`.

        Afterwards `request.due` has the hooks that were called.
        """
        if self._stride is None:
            request.due = [hook for hook in request.due if _is_reached(hook, context)]
        due = request.due
        if show_nan and context.loss_value is not None and math.isnan(context.loss_value):
            due = [hook for hook in self._around_steps if _is_among(hook, due) or _sees_nan(hook)]
            self._quiet = (0, 0)
        options = self._no_options if request.options is None else request.options
        for hook in due:
            values = SessionRunValues(results.get(id(hook)), options, metadata)
            self._call(hook, "after_run", context, values)

    def end(self, session: Any) -> None:
        """The run is over, without an error."""
        for hook in self.hooks:
            self._call(hook, "end", session)

    def _call(self, hook: Any, method: str, *args: Any) -> Any:
        """Calls a hook; replaces an exception that TensorFlow words too briefly."""
        try:
            return getattr(hook, method)(*args)
        except EXPLAINABLE as error:
            better = explained(error, hook, method, self._find)
            if better is None:
                raise
            raise better from error

    def close(self) -> None:
        """The run is over, in whatever way."""
        for hook in self.hooks:
            if isinstance(hook, ScheduledHook):
                hook.close()


def _acts_around_steps(hook: Any) -> bool:
    """Whether the hook may do anything in `before_run` or `after_run`; many only use `begin`, or the session.

    Judged by the class alone, and only for classes that inherit both from TensorFlow's: a test double or a proxy looks
    its methods up elsewhere.
    """
    kind = type(hook)
    for name in ("before_run", "after_run"):
        if getattr(kind, name, None) is not getattr(SessionRunHook, name) or name in getattr(hook, "__dict__", {}):
            return True
    return "__getattribute__" in {name for one in kind.__mro__[:-1] for name in vars(one)}


def _is_reached(hook: Any, context: RunContext) -> bool:
    """Whether a hook must see a step after which the count turned out to have reached its look."""
    if not isinstance(hook, ScheduledHook) or hook.judges_each_step:
        return True
    return hook.next_look(context.count_before) <= context.count or hook.next_look_seconds() <= 0


def _looks_by_time(hook: ScheduledHook) -> bool:
    method = type(hook).next_look_seconds
    return method is not ScheduledHook.next_look_seconds or "next_look_seconds" in vars(hook)


def _is_among(hook: Any, hooks: Sequence[Any]) -> bool:
    return any(hook is other for other in hooks)


def _sees_nan(hook: Any) -> bool:
    return isinstance(hook, ScheduledHook) and hook.sees_nan


def _merge(request: HookRequest, hook: Any, args: Any) -> None:
    if not isinstance(args, SessionRunArgs):
        raise HookError(
            f"{type(hook).__name__}.before_run must return a SessionRunArgs or None, got {type(args).__name__}. "
            "Wrap the fetches: tf.compat.v1.train.SessionRunArgs(fetches)."
        )
    if args.fetches is not None:
        request.fetches[id(hook)] = args.fetches
    for key, value in (args.feed_dict or {}).items():
        if any(key is other for other in request.feeds):
            raise HookError(f"Same tensor is fed by two hooks: {key!r}; the second one is {type(hook).__name__}.")
        request.feeds[key] = value
    if args.options is not None:
        request.options = _merged_options(request.options, args.options)


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
