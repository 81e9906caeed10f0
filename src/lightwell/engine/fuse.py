"""Fusing: the training step of a `Program` becomes a loop in the same graph, so that one call runs many steps.

Takes a training program whose hooks have begun and whose graph is not final yet; gives a `FusedLoop`, handles to the
loop. Adds ops under `FUSED_SCOPE` and changes nothing else: no variable in a collection, no op of the model.

The loop leaves its progress (steps done, last loss, global step) in resource variables of its own rather than in loop
variables: they are there also after a step that failed, by the end of the data for one.

Looks into a step ("taps") are loop variables of their own, each with its own exit. TensorFlow runs only what the
fetches of a call need, so a tap that is not fetched costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.engine.fuse_copy import StepCopy, copy_step
from lightwell.engine.program import Program
from lightwell.errors import HookError
from lightwell.hooks.plain_graph import FUSED_SCOPE

_COUNT = tf.int64
_FAR = 2**62


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a call came: the steps it did, and the loss and the global step after the last of them."""

    done: Any
    loss: Any
    global_step: Any


@dataclass(frozen=True, eq=False)
class FusedLoop:
    """The loop.

    Attributes:
        most: feed how many steps the call may run; one if not fed.
        until: feed the global step at which to come back; far away if not fed.
        prepare: an op to run once in a new session.
        result: fetch it to run the loop; how far it came.
        saved: the same, without running the loop: what the last call left.
        taps: name of a tensor or op of the model to its value in the loop's last step; fetch it together with `result`.
        feedable: names of the model's placeholders, which the loop reads as they are fed.
    """

    most: Any
    until: Any
    prepare: Any
    result: Progress
    saved: Progress
    taps: dict[str, Any]
    feedable: frozenset[str]

    def translated(self, fetches: Any) -> Any:
        """A structure of the model's tensors and ops as one of the loop's.

        Raises:
            HookError: one of them is not tapped.
        """
        return tf.nest.map_structure(self._tap, fetches, expand_composites=True)

    def _tap(self, leaf: Any) -> Any:
        element = self.prepare.graph.as_graph_element(leaf)
        tap = self.taps.get(element.name)
        if tap is None:
            raise HookError(
                f"A scheduled hook asked for {element.name!r}, which its looks_at() did not name. Steps are fused, and "
                "what may be looked at must be known before the first step: return it from looks_at()."
            )
        return tap.op if isinstance(element, tf.Operation) else tap


def fuse(program: Program, looks: Sequence[Any]) -> FusedLoop:
    """Adds the loop to the program's graph, which must not be final. `looks` are structures of what may be fetched."""
    spec, graph = program.spec, program.graph
    with graph.as_default(), tf.name_scope(FUSED_SCOPE), tf.device("/cpu:0"):
        most = tf.compat.v1.placeholder_with_default(tf.constant(1, _COUNT), [], "most")
        until = tf.compat.v1.placeholder_with_default(tf.constant(_FAR, _COUNT), [], "until")
        kept = Progress(_variable("done", _COUNT), _variable("loss", spec.loss.dtype), _variable("step", _COUNT))
        prepare = tf.group(*(_assign(handle, 0, dtype) for handle, dtype in _typed(kept, spec.loss.dtype)))
        with tf.control_dependencies([_assign(kept.done, 0, _COUNT)]):
            start = tf.identity(tf.constant(0, _COUNT), name="start")
    always = {element.name for element in _elements(graph, [spec.train_op, spec.loss, program.step_after])}
    tapped = [element for element in _elements(graph, looks) if element.name not in always]
    step = copy_step(graph, [spec.train_op, spec.loss, program.step_after], tapped)
    end = _add_loop(step, program, start, most, until, kept)
    exits = [_add_tap(step, number, element) for number, element in enumerate(tapped)]
    ended, *values = step.add_to(graph, [end, *exits])
    with graph.as_default(), tf.name_scope(FUSED_SCOPE), tf.device("/cpu:0"):
        saved = _read(kept, spec.loss.dtype)
        with tf.control_dependencies([ended]):
            result = _read(kept, spec.loss.dtype)
    taps = {element.name: _of_shape(value, element) for element, value in zip(tapped, values, strict=True)}
    taps |= {spec.train_op.name: result.done, program.step_after.name: result.global_step, spec.loss.name: result.loss}
    return FusedLoop(most, until, prepare, result, saved, taps, step.feedable)


def _add_loop(step: StepCopy, program: Program, start: Any, most: Any, until: Any, kept: Progress) -> str:
    """Adds the counter, the decision to go on, and the record of progress; returns the output that ends the loop."""
    loss_type = program.spec.loss.dtype
    most_inside = step.enter(most)
    counter = step.node("counter", "Merge", [step.enter(start, constant=False), step.name("next")], T=_COUNT, N=2)
    step.node("condition", "LoopCond", [step.node("less", "Less", [counter, most_inside], T=_COUNT)])
    switch = step.node("switch", "Switch", [counter, step.name("condition")], T=_COUNT)
    step.node(step.PIVOT, "Identity", [f"{switch}:1"], T=_COUNT)
    end = step.node("exit", "Exit", [switch], T=_COUNT)

    loss, after, trained = step.copied(program.spec.loss), step.copied(program.step_after), program.spec.train_op
    done = step.node("done", "AddV2", [step.name(step.PIVOT), step.constant("one", 1, _COUNT)], T=_COUNT)
    is_number = step.node("is_number", "Equal", [loss, loss], T=loss_type, incompatible_shape_error=True)
    is_below = step.node("is_below", "Less", [after, step.enter(until)], T=_COUNT)
    go_on = step.node("go_on", "LogicalAnd", [is_number, is_below])
    finished = step.copied_control(trained)
    records = [
        step.node("keep_loss", "AssignVariableOp", [step.enter(kept.loss), loss, finished], dtype=loss_type),
        step.node("keep_step", "AssignVariableOp", [step.enter(kept.global_step), after], dtype=_COUNT),
    ]
    done_last = [f"^{record}" for record in records]  # the count says that the rest is there
    records.append(step.node("keep_done", "AssignVariableOp", [step.enter(kept.done), done, *done_last], dtype=_COUNT))
    chosen = step.node("chosen", "SelectV2", [go_on, done, most_inside, f"^{records[-1]}"], T=_COUNT)
    step.node("next", "NextIteration", [chosen], T=_COUNT)
    return f"{end}:0"


def _add_tap(step: StepCopy, number: int, element: Any) -> str:
    """Adds the loop variable of a tapped tensor or op; returns the output that leaves the loop."""
    name, is_op = f"tap_{number}", isinstance(element, tf.Operation)
    dtype = tf.bool if is_op else element.dtype
    inside = step.constant(f"{name}/ran", True, tf.bool, after=element) if is_op else step.copied(element)
    first = step.enter(step.nothing(dtype), constant=False, name=f"{name}/first")
    merge = step.node(f"{name}/merge", "Merge", [first, step.name(f"{name}/next")], T=dtype, N=2)
    switch = step.node(f"{name}/switch", "Switch", [merge, step.name("condition")], T=dtype)
    step.node(f"{name}/next", "NextIteration", [inside], T=dtype)
    return f"{step.node(f'{name}/exit', 'Exit', [switch], T=dtype)}:0"


def _of_shape(value: Any, element: Any) -> Any:
    if isinstance(element, tf.Tensor):
        value.set_shape(element.shape)
    return value


def _elements(graph: tf.Graph, looks: Sequence[Any]) -> list[Any]:
    """The tensors and ops in a structure of whatever a session can fetch, each once."""
    leaves = tf.nest.flatten(looks, expand_composites=True)
    return list({element.name: element for element in map(graph.as_graph_element, leaves)}.values())


def _typed(progress: Progress, loss_type: Any) -> list[tuple[Any, Any]]:
    return [(progress.done, _COUNT), (progress.loss, loss_type), (progress.global_step, _COUNT)]


def _variable(name: str, dtype: Any) -> Any:
    """A resource variable that is in no collection: neither savers nor initialisers nor users shall meet it."""
    return tf.raw_ops.VarHandleOp(dtype=dtype, shape=[], shared_name=FUSED_SCOPE + name, name=f"kept_{name}")


def _assign(handle: Any, value: Any, dtype: Any) -> Any:
    return tf.raw_ops.AssignVariableOp(resource=handle, value=tf.cast(value, dtype))


def _read(kept: Progress, loss_type: Any) -> Progress:
    return Progress(
        *(tf.raw_ops.ReadVariableOp(resource=handle, dtype=kind) for handle, kind in _typed(kept, loss_type))
    )
