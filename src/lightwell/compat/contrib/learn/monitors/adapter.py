"""Monitors as hooks: `RunHookAdapterForMonitors`, and the list of both that `fit` takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.learn.monitors.base import BaseMonitor
from lightwell.errors import UsageError, WrongType

_v1 = tf.compat.v1


class RunHookAdapterForMonitors(tf.compat.v1.train.SessionRunHook):
    """Tells monitors of each step.

    Values of variables are read after the step; all other tensors are fetched with it.

    Args:
        monitors: the monitors, in the order in which they are told.
    """

    def __init__(self, monitors: Sequence[BaseMonitor]) -> None:
        self._monitors = list(monitors)
        self._step: int | None = None
        self._variables: dict[Any, Any] = {}
        self._global_step: Any = None

    def begin(self) -> None:
        """Finds the counter of steps."""
        self._step, self._global_step = None, _v1.train.get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: Any) -> Any:
        """Asks monitors for what they want to see in this step."""
        if self._step is None:
            self._step = int(run_context.session.run(self._global_step))
        graph = run_context.session.graph
        wanted: dict[Any, Any] = {}
        for monitor in self._monitors:
            for name in monitor.step_begin(self._step + 1) or ():
                wanted[name] = _value_of(graph, name)
        self._variables = {name: value for name, (value, is_variable) in wanted.items() if is_variable}
        fetched = {name: value for name, (value, is_variable) in wanted.items() if not is_variable}
        return _v1.train.SessionRunArgs(fetched)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Tells monitors what came, and stops the training if one of them says so."""
        session = run_context.session
        step = (self._step or 0) + 1
        read, counted = session.run((self._variables, self._global_step))
        self._step = int(counted)
        values = {**(run_values.results or {}), **read}
        stops = [monitor.step_end(step, values) for monitor in self._monitors]
        for monitor in self._monitors:
            monitor.post_step(step, session)
        if any(stops):
            run_context.request_stop()

    def end(self, session: Any) -> None:
        """Tells monitors that it is over."""
        for monitor in self._monitors:
            monitor.end(session=session)


def replace_monitors_with_hooks(monitors_or_hooks: Sequence[Any] | None, estimator: Any) -> list[Any]:
    """Hooks as they are, and one hook for all monitors.

    Args:
        monitors_or_hooks: both kinds, mixed.
        estimator: what the monitors watch.

    Raises:
        WrongType: one is neither.
    """
    given = list(monitors_or_hooks or ())
    hooks = [one for one in given if isinstance(one, _v1.train.SessionRunHook)]
    monitors = [one for one in given if isinstance(one, BaseMonitor)]
    others = [one for one in given if one not in hooks and one not in monitors]
    if others:
        raise WrongType(
            f"fit: monitors must be monitors of tf.contrib.learn or SessionRunHooks, got {type(others[0]).__name__}."
        )
    for monitor in monitors:
        monitor.set_estimator(estimator)
    return [*hooks, RunHookAdapterForMonitors(monitors)] if monitors else hooks


def _value_of(graph: Any, wanted: Any) -> tuple[Any, bool]:
    """What to fetch for a name or a tensor, and whether it is the value of a variable."""
    element = wanted if tf.is_tensor(wanted) else graph.as_graph_element(wanted)
    if isinstance(element, tf.Operation):
        if len(element.outputs) != 1:
            raise UsageError(
                f"A monitor asked for {wanted!r}, an operation with {len(element.outputs)} outputs; ask for one of "
                f"them: '{element.name}:0'."
            )
        element = element.outputs[0]
    if getattr(element, "dtype", None) != tf.resource:
        return element, False
    variables = graph.get_collection(_v1.GraphKeys.GLOBAL_VARIABLES)
    variables += graph.get_collection(_v1.GraphKeys.LOCAL_VARIABLES)
    for variable in variables:
        if variable.op.name == element.op.name:
            # The read that every variable brings: a graph that runs takes no new operations.
            return graph.get_tensor_by_name(f"{variable.op.name}/Read/ReadVariableOp:0"), True
    raise UsageError(f"A monitor asked for {wanted!r}, which is a resource and no variable.")
