"""Fusing: the step of a `Program` becomes a loop in the same graph, so that one call runs many steps.

Takes a task whose hooks have begun, in a graph that is not final yet; returns a `Loop`, handles to it. Adds ops under
`FUSED_SCOPE` and changes nothing else: no variable in a collection, no op of the model.

One loop serves all modes. It *runs* ops in each step; it *carries* numbers from step to step (steps done, loss, global
step); it returns what hooks look at of the last step, and the *outputs* of every step, such as predictions. Carried
numbers and outputs are in resources of the loop, not in loop variables alone, so that they outlive a step that fails,
for example at the end of the data. TensorFlow runs only what the fetches of a call need: what is not fetched costs
nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.keys import FUSED_SCOPE
from lightwell.errors import HookError
from lightwell.run.loops.step_copy import HOST, Edges, StepCopy, step_ops
from lightwell.run.loops.task import Task

_COUNT = tf.int64
_FAR = 2**62


@dataclass(frozen=True, eq=False)
class JoinedValues:
    """The values of one tensor over all steps of a call: joined along the first dimension, and how long each is.

    Numbers are stacked, and have no lengths. `values` is the list that they come from.
    """

    joined: Any
    lengths: Any
    values: Any


@dataclass(frozen=True, eq=False)
class LoopOutputs:
    """The tensors that can be fetched of a loop.

    Attributes:
        done: how many steps the call ran.
        carried: name of a carried tensor -> its value after the last of them.
        every: name of an output -> its values of all of them.
    """

    done: Any
    carried: dict[str, Any]
    every: dict[str, JoinedValues]


@dataclass(frozen=True, eq=False)
class Loop:
    """The loop.

    Attributes:
        most: feed how many steps the call may run.
        until: feed the count at which to return.
        prepare: an op to run once in a new session.
        running: fetch any of it, and the loop runs.
        saved: the same values as the last call left them; the loop does not run.
        last: name of a tensor or op -> its value in the last step; fetch it together with `running.done`.
        feedable: names of the model's placeholders, which the loop reads as they are fed.
        progress: the resources that `saved` is read from: steps done, and what is carried.
        copies: name of a carried tensor or an output -> the op inside the loop that computes it.
        always: the names of those that every step computes, whatever its outputs are.
    """

    most: Any
    until: Any
    prepare: Any
    running: LoopOutputs
    saved: LoopOutputs
    last: dict[str, Any]
    feedable: frozenset[str]
    progress: tuple[Number, ...]
    copies: dict[str, tf.Operation]
    always: frozenset[str]

    def as_written(self, elements: Sequence[Any]) -> list[tf.Operation]:
        """The ops to run with a call that computes `elements` of the model in each step.

        TensorFlow computes what is fetched as it is written, and may compute all else in another order, with another
        last digit. In the loop it cannot see what is fetched, so the call also runs the ops that single steps fetch.
        """
        names = self.always | {element.name for element in elements}
        if self.copies.keys() - names:  # outputs of other calls count if these elements need them
            needed = {op.name for op in step_ops(elements)[0]}
            names |= {name for name in self.copies if name.rpartition(":")[0] in needed}
        return [op for name, op in self.copies.items() if name in names]

    def of_last_step(self, element: Any) -> Any:
        """The element to fetch for an element of the model.

        Raises:
            HookError: it was not announced.
        """
        if element.name not in self.last:
            raise HookError(
                f"A scheduled hook asked for {element.name!r}, which its looks_at() did not name. Steps are fused, and "
                "what may be looked at must be known before the first step: return it from looks_at()."
            )
        tensor = self.last[element.name]
        return tensor.op if isinstance(element, tf.Operation) else tensor


def can_be_joined(element: Any) -> bool:
    """Whether values of every step can be joined: a tensor whose steps differ in the first dimension at the most."""
    if not isinstance(element, tf.Tensor) or element.dtype in (tf.variant, tf.resource):
        return False
    return element.shape.rank is not None and element.shape[1:].is_fully_defined()


def fuse(
    graph: tf.Graph,
    task: Task,
    last: Sequence[Any],
    every: Sequence[Any],
    scope: str = FUSED_SCOPE,
    excluded: Container[str] = (),
    order: Edges = (),
) -> Loop:
    """Adds the loop to a graph, which must not be final.

    Args:
        graph: the graph of the task.
        task: what each step does.
        last: tensors and ops that may be looked at after a call's last step.
        every: tensors whose values of all steps may be fetched; each `can_be_joined`.
        scope: where the names of all that is added begin.
        excluded: names of ops that are not part of a step.
        order: which op of a step runs before which other, beyond what the graph says.
    """
    carried = task.carried
    known = {element.name for element in (*task.run, *carried)}
    looked_at = [element for element in last if element.name not in known]
    with around_the_loop(graph, scope):
        most = tf.compat.v1.placeholder_with_default(tf.constant(1, _COUNT), [], "most")
        until = tf.compat.v1.placeholder_with_default(tf.constant(_FAR, _COUNT), [], "until")
        done = Number(scope, "done", _COUNT)
        numbers = [Number(scope, f"carried_{place}", tensor.dtype) for place, tensor in enumerate(carried)]
        lists = [_List(scope, place, tensor) for place, tensor in enumerate(every)]
        with tf.control_dependencies([done.assign(0), *(one.clear() for one in lists)]):
            start = tf.identity(tf.constant(0, _COUNT), name="start")
    step = StepCopy(graph, [*task.run, *carried, *looked_at, *every], scope, excluded, order)
    # A tensor from outside of the loop has one value for all steps of a call. It must not become a variable of the
    # loop: a value that is there in every round would start one round after the other, for ever.
    fixed = {one.name: one for one in looked_at if isinstance(one, tf.Tensor) and not step.is_copied(one)}
    last = [one for one in looked_at if one.name not in fixed]
    ends = [_add_loop(step, task, start, most, until, done, list(zip(carried, numbers, strict=True)))]
    ends += [step.all_values(one.name, one.empty, one.tensor, one.handle) for one in lists]
    ends += [_add_last(step, place, element) for place, element in enumerate(last)]
    ended, *outputs = step.add_to_graph(ends)
    filled, lasts = outputs[: len(lists)], outputs[len(lists) :]
    with around_the_loop(graph, scope):
        with tf.control_dependencies([ended]):
            running = LoopOutputs(
                done.read(),
                {tensor.name: number.read() for tensor, number in zip(carried, numbers, strict=True)},
                {one.tensor.name: one.joined(handle) for one, handle in zip(lists, filled, strict=True)},
            )
        saved = LoopOutputs(
            done.read(),
            {tensor.name: number.read() for tensor, number in zip(carried, numbers, strict=True)},
            {one.tensor.name: one.joined(one.saved()) for one in lists},
        )
        prepare = tf.group(*(number.assign(0) for number in (done, *numbers)), *(one.clear() for one in lists))
    last_values = fixed | {element.name: _of_shape(value, element) for element, value in zip(last, lasts, strict=True)}
    last_values |= {op.name: running.done for op in task.run} | running.carried
    copies = {
        tensor.name: graph.get_operation_by_name(step.copied_op(tensor))
        for tensor in (*carried, *every)
        if step.is_copied(tensor)
    }
    always = _computed_in_every_step(task, copies)
    return Loop(most, until, prepare, running, saved, last_values, step.feedable, (done, *numbers), copies, always)


def _computed_in_every_step(task: Task, names: Iterable[str]) -> frozenset[str]:
    """Those of the tensors that a step computes also without outputs."""
    carried = {tensor.name for tensor in task.carried}
    if carried.issuperset(names):
        return frozenset(names)
    needed = {op.name for op in step_ops([*task.run, *task.carried])[0]}
    return frozenset(name for name in names if name.rpartition(":")[0] in needed)


@contextlib.contextmanager
def around_the_loop(graph: tf.Graph, scope: str) -> Iterator[None]:
    """The scope in which a loop adds ops that are not in it."""
    with graph.as_default(), tf.name_scope(scope), tf.device(HOST):
        yield


class Number:
    """A resource with one number that is in no collection: neither savers nor initialisers nor users see it."""

    def __init__(self, scope: str, name: str, dtype: Any) -> None:
        self.dtype = dtype
        self.handle = tf.raw_ops.VarHandleOp(dtype=dtype, shape=[], shared_name=scope + name, name=f"kept_{name}")

    def assign(self, value: Any) -> Any:
        """An op that sets it."""
        return tf.raw_ops.AssignVariableOp(resource=self.handle, value=tf.cast(value, self.dtype))

    def read(self) -> Any:
        """A tensor that reads it."""
        return tf.raw_ops.ReadVariableOp(resource=self.handle, dtype=self.dtype)


class _List:
    """A list of the values of a tensor, one of each step, and a resource that holds it after a failure too."""

    def __init__(self, scope: str, place: int, tensor: Any) -> None:
        self.tensor = tensor
        self.name = f"every_{place}"
        shape = [-1, *tensor.shape[1:]] if tensor.shape.rank else []
        self._kind = {"element_shape": tf.constant(shape, tf.int32), "element_dtype": tensor.dtype}
        self.empty = tf.raw_ops.EmptyTensorList(**self._kind, max_num_elements=-1)
        self.handle = tf.raw_ops.VarHandleOp(
            dtype=tf.variant, shape=[], shared_name=scope + self.name, name=f"kept_{self.name}"
        )

    def clear(self) -> Any:
        return tf.raw_ops.AssignVariableOp(resource=self.handle, value=self.empty)

    def saved(self) -> Any:
        return tf.raw_ops.ReadVariableOp(resource=self.handle, dtype=tf.variant)

    def joined(self, values: Any) -> JoinedValues:
        nothing = tf.constant([], tf.int64)
        if not self.tensor.shape.rank:
            return JoinedValues(tf.raw_ops.TensorListStack(input_handle=values, **self._kind), nothing, values)
        joined = tf.raw_ops.TensorListConcatV2(input_handle=values, **self._kind, leading_dims=nothing)
        return JoinedValues(joined.tensor, joined.lengths, values)


def _add_loop(
    step: StepCopy, task: Task, start: Any, most: Any, until: Any, done: Number, carried: Sequence[tuple[Any, Number]]
) -> str:
    """Adds the counter, the condition to continue, and the record of progress; returns the output of the end."""
    most_inside = step.enter(most)
    counter = step.node("counter", "Merge", [step.enter(start, constant=False), step.name("next")], T=_COUNT, N=2)
    step.node(step.CONDITION, "LoopCond", [step.node("less", "Less", [counter, most_inside], T=_COUNT)])
    switch = step.node("switch", "Switch", [counter, step.name(step.CONDITION)], T=_COUNT)
    step.node(step.PIVOT, "Identity", [f"{switch}:1"], T=_COUNT)
    end = step.node("exit", "Exit", [switch], T=_COUNT)

    ran = [f"^{step.copied_op(op)}" for op in task.run]
    recorded = [
        step.node(
            f"keep_{place}",
            "AssignVariableOp",
            [step.enter(number.handle), step.copied(tensor), *ran],
            dtype=tensor.dtype,
        )
        for place, (tensor, number) in enumerate(carried)
    ]
    more = step.node("more", "AddV2", [step.name(step.PIVOT), step.constant("one", 1, _COUNT)], T=_COUNT)
    first = [f"^{node}" for node in recorded] or ran  # the count says that the rest is there
    counted = step.node("keep_done", "AssignVariableOp", [step.enter(done.handle), more, *first], dtype=_COUNT)
    go_on = _add_continuation(step, task, until)
    following = more if go_on is None else step.node("chosen", "Select", [go_on, more, most_inside], T=_COUNT)
    step.node("next", "NextIteration", [step.node("after", "Identity", [following, f"^{counted}"], T=_COUNT)], T=_COUNT)
    return f"{end}:0"


def _add_continuation(step: StepCopy, task: Task, until: Any) -> str | None:
    """The node that says whether to run another step: the count is not reached, and the loss is no NaN."""
    reasons = []
    if task.loss is not None and task.loss.dtype.is_floating:
        is_nan = step.node("is_nan", "IsNan", [step.copied(task.loss)], T=task.loss.dtype)
        reasons.append(step.node("is_number", "LogicalNot", [is_nan]))
    if task.count is not None:
        reasons.append(step.node("is_below", "Less", [step.copied(task.count), step.enter(until)], T=_COUNT))
    return step.node("go_on", "LogicalAnd", reasons) if len(reasons) == 2 else next(iter(reasons), None)


def _add_last(step: StepCopy, place: int, element: Any) -> str:
    """Adds the way out of the loop for a tensor, or for the fact that an op has run."""
    name = f"last_{place}"
    if isinstance(element, tf.Tensor):
        return step.last_value(name, step.copied(element), element.dtype)
    ran = step.constant(f"{name}/ran", True, tf.bool, after=[step.copied_op(element)])
    return step.last_value(name, ran, tf.bool)


def _of_shape(value: Any, element: Any) -> Any:
    if isinstance(element, tf.Tensor):
        value.set_shape(element.shape)
    return value
