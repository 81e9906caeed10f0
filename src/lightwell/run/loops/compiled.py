"""Compiling: the loop once more, as one computation of XLA. A variant of `loop.py`, for calls that no hook looks into.

XLA reads no batches from a pipeline. So there are two calls: a loop like any other reads batches, runs their host part,
and returns them joined; then a function runs the rest of the step on each of them. In between it is known how many
batches there are and how long each is: XLA compiles for one number and one length.

The function exists twice, compiled and not. Batches that cannot be compiled, or are not worth it, such as a single
shorter batch at the end of the data, go through the other one. Both leave carried numbers where the loop does.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.keys import FUSED_SCOPE
from lightwell.run.loops.fusible import functions_called, functions_of, within
from lightwell.run.loops.host_part import HostPart
from lightwell.run.loops.loop import Loop, around_the_loop, fuse
from lightwell.run.loops.step_copy import Edges, StepFunction, has_functions, step_ops
from lightwell.run.loops.task import Task

_SCOPE = f"{FUSED_SCOPE}batches/"
_COUNT = tf.int64


@dataclass(frozen=True, eq=False)
class FunctionOutputs:
    """The outputs of one call of the function.

    Attributes:
        done: how many steps it ran.
        carried: name of a carried tensor -> its value after the last of them.
        every: name of an output -> its values of all of them, stacked; behind those anything.
    """

    done: Any
    carried: dict[str, Any]
    every: dict[str, Any]


@dataclass(frozen=True, eq=False)
class CompiledLoop:
    """Many steps in two calls: one of the loop that reads batches, then one that runs them.

    Attributes:
        read: the loop that reads batches; they are its outputs.
        batch: the tensors that come of a batch.
        stacked: feed the values of each of them, stacked.
        steps: feed how many of those to run, from the first.
        by_xla: runs them in one computation.
        by_executor: the same, op by op.
    """

    read: Loop
    batch: list[Any]
    stacked: list[Any]
    steps: Any
    by_xla: FunctionOutputs
    by_executor: FunctionOutputs


def compile_loop(
    graph: tf.Graph, task: Task, every: Sequence[Any], loop: Loop, part: HostPart, order: Edges
) -> CompiledLoop:
    """Adds the compiled variant of a loop to a graph, which must not be final.

    Args:
        graph: the graph of the task.
        task: what each step does.
        every: tensors whose values of all steps are returned.
        loop: the loop.
        part: the host part of the step.
        order: which op of a step runs before which other, beyond what the graph says.
    """
    batch = list(part.outputs)
    read = fuse(graph, Task(part.run, None), [], batch, _SCOPE, part.of_shapes)
    with around_the_loop(graph, _SCOPE):
        stacked = [tf.compat.v1.placeholder(tensor.dtype, [None, *tensor.shape], "stacked") for tensor in batch]
        steps = tf.compat.v1.placeholder(_COUNT, [], "steps")
    function = _Steps(graph, task, every, part, loop, order)
    with graph.as_default(), tf.name_scope(_SCOPE):
        by_xla = function.passed(tf.function(function.whole, jit_compile=True, autograph=False)(steps, *stacked))
        by_executor = function.passed(tf.function(function.recorded, autograph=False)(steps, *stacked))
    return CompiledLoop(read, batch, stacked, steps, by_xla, by_executor)


class _Steps:
    """The function: runs a step on each of the stacked batches, until there are no more, or a NaN."""

    def __init__(
        self, graph: tf.Graph, task: Task, every: Sequence[Any], part: HostPart, loop: Loop, order: Edges
    ) -> None:
        self._task, self._every, self._batch, self._loop = task, every, part.outputs, loop
        self._run = [op for op in task.run if op.name not in part.ops]
        self._targets = [*self._run, *task.carried, *every]
        library = _library(graph, self._targets, part.ops)
        self._step = StepFunction(graph, self._targets, part.ops, library, order)

    def whole(self, steps: Any, *stacked: Any) -> list[Any]:
        """Runs all steps or none, and records no progress: the counters of a loop are on the host, out of XLA's reach
        on another device."""
        return self._over(steps, stacked, is_recorded=False)

    def recorded(self, steps: Any, *stacked: Any) -> list[Any]:
        """Records progress, which outlives a step that fails."""
        return self._over(steps, stacked, is_recorded=True)

    def _over(self, steps: Any, stacked: Sequence[Any], is_recorded: bool) -> list[Any]:
        room = tf.shape(stacked[0])[0]
        carried = [tf.zeros([], tensor.dtype) for tensor in self._task.carried]
        lists = [tf.TensorArray(one.dtype, room, element_shape=one.shape) for one in self._every]
        done, *_ = self._loop.progress
        with tf.control_dependencies([done.assign(0)] if is_recorded else []):
            first = tf.constant(0, _COUNT)

        def one_more(place: Any, _: Any, __: Any, lists: Sequence[Any]) -> Any:
            batch = {tensor.name: values[place] for tensor, values in zip(self._batch, stacked, strict=True)}
            return self._one(place, batch, lists, is_recorded)

        place, _, carried, lists = tf.while_loop(
            lambda place, goes_on, *_: (place < steps) & goes_on,
            one_more,
            [tf.identity(first), tf.constant(True), carried, lists],
            parallel_iterations=1,
        )
        return [place, *carried, *(one.stack() for one in lists)]

    def _one(self, place: Any, batch: dict[str, Any], lists: Sequence[Any], is_recorded: bool) -> Any:
        copies = self._step.add_to_function(self._targets, batch)
        run, copies = copies[: len(self._run)], copies[len(self._run) :]
        values, every = copies[: len(self._task.carried)], copies[len(self._task.carried) :]
        after = self._record(place, run, values, every) if is_recorded else run
        with tf.control_dependencies(after):
            place = place + 1
        goes_on = tf.constant(True)
        loss = self._task.loss
        if loss is not None and loss.dtype.is_floating:
            goes_on = tf.logical_not(tf.math.is_nan(values[0]))  # the loss is the first that is carried
        lists = [one.write(tf.cast(place - 1, tf.int32), value) for one, value in zip(lists, every, strict=True)]
        return place, goes_on, [tf.reshape(value, []) for value in values], lists

    def _record(self, place: Any, run: Sequence[Any], values: Sequence[Any], every: Sequence[Any]) -> list[Any]:
        """Ops that record progress; the count is written last."""
        done, *numbers = self._loop.progress
        with tf.control_dependencies([*run, *values, *every]):
            recorded = [number.assign(value) for number, value in zip(numbers, values, strict=True)]
        with tf.control_dependencies(recorded or run):
            return [*recorded, done.assign(place + 1)]

    def passed(self, outputs: Sequence[Any]) -> FunctionOutputs:
        """The function's outputs, by name."""
        done, *rest = outputs
        carried, every = rest[: len(self._task.carried)], rest[len(self._task.carried) :]
        return FunctionOutputs(
            done,
            {tensor.name: value for tensor, value in zip(self._task.carried, carried, strict=True)},
            {tensor.name: value for tensor, value in zip(self._every, every, strict=True)},
        )


def _library(graph: tf.Graph, targets: Sequence[Any], excluded: Container[str]) -> list[Any]:
    """The functions that a step calls, and all that those call."""
    callers = [op for op in step_ops(targets, excluded)[0] if has_functions(op)]
    if not callers:
        return []
    functions = functions_of(graph)
    names = {one for op in callers for name in functions_called(op.node_def) for one in within(functions, name)}
    return [functions[name] for name in sorted(names)]
