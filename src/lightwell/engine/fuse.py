"""Fusing: the training step of a `Program` becomes a loop in the same graph, so that one call runs many steps.

Takes a training program whose hooks have begun and whose graph is not final yet; gives a `FusedLoop`, handles to the
loop. Adds ops under `FUSED_SCOPE` and changes nothing else: no variable in a collection, no op of the model.

The loop leaves its progress (steps done, last loss, global step) in resource variables of its own rather than in loop
variables: they are there also after a step that failed, by the end of the data for one.

Looks into a step ("taps") are loop variables of their own, each with its own exit. TensorFlow runs only what the
fetches of a call need, so a tap that is not fetched costs nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.engine.fuse_copy import HOST, StepCopy, copy_step
from lightwell.engine.fuse_record import Recording, plan_recording
from lightwell.engine.program import Program
from lightwell.errors import HookError
from lightwell.keys import FUSED_SCOPE

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
        recording: values of every step of a call, if they were asked for and can be recorded.
    """

    most: Any
    until: Any
    prepare: Any
    result: Progress
    saved: Progress
    taps: dict[str, Any]
    feedable: frozenset[str]
    recording: Recording | None

    def translated(self, fetches: Any) -> Any:
        """A structure of the model's tensors and ops as one of the loop's.

        Raises:
            HookError: one of them is not tapped.
        """
        return tf.nest.map_structure(self._tap, fetches, expand_composites=True)

    def _tap(self, leaf: Any) -> Any:
        element = self.prepare.graph.as_graph_element(leaf)
        if element.name not in self.taps:
            raise not_tapped(element)
        tap = self.taps[element.name]
        return tap.op if isinstance(element, tf.Operation) else tap


def not_tapped(element: Any) -> HookError:
    """The complaint about a hook that asks for what it did not announce."""
    return HookError(
        f"A scheduled hook asked for {element.name!r}, which its looks_at() did not name. Steps are fused, and what "
        "may be looked at must be known before the first step: return it from looks_at()."
    )


def fuse(program: Program, looks: Sequence[Any], looks_in_bulk: Sequence[Any] = ()) -> FusedLoop:
    """Adds the loop to the program's graph, which must not be final.

    Args:
        program: a training program.
        looks: structures of what may be fetched of a single step.
        looks_in_bulk: structures of what shall be recorded of every step; part of `looks`.
    """
    spec, graph = program.spec, program.graph
    core = [spec.train_op, spec.loss, program.step_after]
    tapped = elements_of(graph, looks, known=core)
    with fused_ops(graph):
        most = tf.compat.v1.placeholder_with_default(tf.constant(1, _COUNT), [], "most")
        until = tf.compat.v1.placeholder_with_default(tf.constant(_FAR, _COUNT), [], "until")
        kept = Progress(_variable("done", _COUNT), _variable("loss", spec.loss.dtype), _variable("step", _COUNT))
        with tf.control_dependencies([_assign(kept.done, 0, _COUNT)]):
            start = tf.identity(tf.constant(0, _COUNT), name="start")
        recording = plan_recording(elements_of(graph, [*core[1:], *looks_in_bulk])) if looks_in_bulk else None
    step = copy_step(graph, [*core, *tapped, *(recording.rows if recording else ())])
    ends = [_add_loop(step, program, start, most, until, kept)]
    ends += [recording.add_to_loop(step)] if recording else []
    taps_from = len(ends)
    ends += [_add_tap(step, number, element) for number, element in enumerate(tapped)]
    ended = step.add_to(graph, ends)
    taps = {element.name: _of_shape(value, element) for element, value in zip(tapped, ended[taps_from:], strict=True)}
    with fused_ops(graph):
        result = _read(kept, spec.loss.dtype, ended[:1])
        taps |= {spec.train_op.name: result.done}
        taps |= {program.step_after.name: result.global_step, spec.loss.name: result.loss}
        return FusedLoop(
            most=most,
            until=until,
            prepare=tf.group(_reset(kept, spec.loss.dtype), *(recording.prepare() if recording else ())),
            result=result,
            saved=_read(kept, spec.loss.dtype),
            taps=taps,
            feedable=step.feedable,
            recording=recording.reader(kept.done, ended[:2]) if recording else None,
        )


@contextlib.contextmanager
def fused_ops(graph: tf.Graph) -> Iterator[None]:
    """Ops made in the block belong to the loop's surroundings."""
    with graph.as_default(), tf.name_scope(FUSED_SCOPE), tf.device(HOST):
        yield


def _add_loop(step: StepCopy, program: Program, start: Any, most: Any, until: Any, kept: Progress) -> str:
    """Adds the counter, the decision to go on, and the record of progress; returns the output that ends the loop."""
    loss_type = program.spec.loss.dtype
    most_inside = step.enter(most)
    counter = step.node("counter", "Merge", [step.enter(start, constant=False), step.name("next")], T=_COUNT, N=2)
    step.node(step.CONDITION, "LoopCond", [step.node("less", "Less", [counter, most_inside], T=_COUNT)])
    switch = step.node("switch", "Switch", [counter, step.name(step.CONDITION)], T=_COUNT)
    step.node(step.PIVOT, "Identity", [f"{switch}:1"], T=_COUNT)
    end = step.node("exit", "Exit", [switch], T=_COUNT)

    loss, after, trained = step.copied(program.spec.loss), step.copied(program.step_after), program.spec.train_op
    done = step.node("done", "AddV2", [step.name(step.PIVOT), step.constant("one", 1, _COUNT)], T=_COUNT)
    go_on = step.node("is_below", "Less", [after, step.enter(until)], T=_COUNT)
    if loss_type.is_floating:
        is_number = step.node("is_number", "LogicalNot", [step.node("is_nan", "IsNan", [loss], T=loss_type)])
        go_on = step.node("go_on", "LogicalAnd", [is_number, go_on])
    finished = f"^{step.copied_op(trained)}"
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
    """Adds the way out of the loop for a tensor, or for the news that an op has run."""
    name = f"tap_{number}"
    if isinstance(element, tf.Tensor):
        return step.loop_variable(name, step.copied(element), element.dtype)
    ran = step.constant(f"{name}/ran", True, tf.bool, after=[step.copied_op(element)])
    return step.loop_variable(name, ran, tf.bool)


def _of_shape(value: Any, element: Any) -> Any:
    if isinstance(element, tf.Tensor):
        value.set_shape(element.shape)
    return value


def elements_of(graph: tf.Graph, looks: Sequence[Any], known: Sequence[Any] = ()) -> list[Any]:
    """The tensors and ops in a structure of whatever a session can fetch, each once and without the `known` ones."""
    leaves = tf.nest.flatten(looks, expand_composites=True)
    elements = {element.name: element for element in map(graph.as_graph_element, leaves)}
    for element in known:
        elements.pop(element.name, None)
    return list(elements.values())


def _typed(progress: Progress, loss_type: Any) -> list[tuple[Any, Any]]:
    return [(progress.done, _COUNT), (progress.loss, loss_type), (progress.global_step, _COUNT)]


def _variable(name: str, dtype: Any) -> Any:
    """A resource variable that is in no collection: neither savers nor initialisers nor users shall meet it."""
    return tf.raw_ops.VarHandleOp(dtype=dtype, shape=[], shared_name=FUSED_SCOPE + name, name=f"kept_{name}")


def _assign(handle: Any, value: Any, dtype: Any) -> Any:
    return tf.raw_ops.AssignVariableOp(resource=handle, value=tf.cast(value, dtype))


def _reset(kept: Progress, loss_type: Any) -> Any:
    return tf.group(*(_assign(handle, 0, dtype) for handle, dtype in _typed(kept, loss_type)))


def _read(kept: Progress, loss_type: Any, after: Sequence[Any] = ()) -> Progress:
    with tf.control_dependencies(list(after)):
        reads = [tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype) for handle, dtype in _typed(kept, loss_type)]
    return Progress(*reads)
