"""Many hooks as one: calls them in order, merges what they ask for, hands back what they asked for.

The order is the list's, in every phase. An exception of a hook goes through untouched: the hooks after it are not
called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import HookError
from lightwell.hooks.base import ScheduledHook, SessionRunArgs, SessionRunValues
from lightwell.hooks.context import RunContext


class Request:
    """What one run shall fetch and feed on behalf of the hooks."""

    __slots__ = ("asked", "due", "feeds", "options")

    def __init__(self) -> None:
        self.due: list[Any] = []
        self.asked: dict[Any, Any] = {}
        self.feeds: dict[Any, Any] = {}
        self.options: Any = None


class HookChain:
    """The hooks of a run."""

    def __init__(self, hooks: Sequence[Any]) -> None:
        self.hooks = tuple(hooks)

    def begin(self) -> None:
        """Before the graph is final: hooks may still add to it."""
        for hook in self.hooks:
            hook.begin()

    def after_create_session(self, session: Any, coordinator: Any) -> None:
        """A session is open and initialised; called again for each new session after a lost one."""
        for hook in self.hooks:
            hook.after_create_session(session, coordinator)

    def before_run(self, context: RunContext) -> Request:
        """Asks the hooks that are due what they want of the coming run."""
        request = Request()
        for hook in self.hooks:
            if not _is_due(hook, context.global_step):
                continue
            request.due.append(hook)
            args = hook.before_run(context)
            if args is not None:
                _merge(request, hook, args)
        return request

    def after_run(self, context: RunContext, request: Request, results: Mapping[Any, Any], metadata: Any) -> None:
        """Hands each hook that was due its results."""
        options = request.options
        for hook in request.due:
            hook.after_run(context, SessionRunValues(results.get(hook), options, metadata))

    def end(self, session: Any) -> None:
        """The run is over, without an error."""
        for hook in self.hooks:
            hook.end(session)

    def close(self) -> None:
        """The run is over, in whatever way."""
        for hook in self.hooks:
            if isinstance(hook, ScheduledHook):
                hook.close()


def _is_due(hook: Any, global_step: int | None) -> bool:
    if global_step is None or not isinstance(hook, ScheduledHook):
        return True
    return hook.next_look(global_step) <= global_step + 1


def _merge(request: Request, hook: Any, args: Any) -> None:
    if not isinstance(args, SessionRunArgs):
        raise HookError(
            f"{type(hook).__name__}.before_run must return a SessionRunArgs or None, got {type(args).__name__}. "
            "Wrap the fetches: tf.compat.v1.train.SessionRunArgs(fetches)."
        )
    if args.fetches is not None:
        request.asked[hook] = args.fetches
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
