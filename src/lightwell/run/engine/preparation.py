"""Preparing a run: collects what its steps may fetch, and finds a session for it or completes the graph for a new one.

Takes a program with its task, and hooks that have begun; returns a `PreparedRun`, whose session is not started yet. The
session may be an open one of an equal program: then all elements are looked up in its graph by name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.keys import GLOBAL_STEP_READ_COLLECTION
from lightwell.base.log import logger
from lightwell.run.engine.fetches import Fetches
from lightwell.run.engine.program import Program
from lightwell.run.engine.program_key import ProgramKey, digest_of_files, program_key
from lightwell.run.engine.session import SessionPlan, finish_graph
from lightwell.run.engine.session_pool import OpenSession
from lightwell.run.engine.session_reuse import is_left_alone, may_be_used_again
from lightwell.run.engine.session_source import SessionSource
from lightwell.run.hooks.chain import HookChain
from lightwell.run.inputs.unpack import with_lighter_initializers
from lightwell.run.loops.compilable import warn_once, why_not_compiled
from lightwell.run.loops.compiled import CompiledLoop, compile_loop
from lightwell.run.loops.counter import fixed_stride
from lightwell.run.loops.fusible import find_uninlined_random_op, why_not_fused
from lightwell.run.loops.host_part import host_part
from lightwell.run.loops.loop import Loop, can_be_joined, fuse
from lightwell.run.loops.order import settle_order
from lightwell.run.loops.products import mirror_products
from lightwell.run.loops.step_copy import Edges, step_ops
from lightwell.run.loops.task import StepSettings, Task

OUTPUTS = "outputs"
Looks = Mapping[int, Fetches]
"""By the id of each scheduled hook, the elements that it may look at."""


@dataclass(frozen=True, eq=False)
class PreparedRun:
    """A run about to start. All elements are of the graph that the session runs.

    Attributes:
        opened: the session.
        key: the key to store the session under afterwards; None to close it.
        run: ops to run in each step.
        carried: numbers that come with each step.
        output_fetches: the task's `outputs`, under the key `OUTPUTS`.
        in_bulk: more values of every step, for hooks that are called later.
        stride: by how much each step moves the count; None where it is not fixed.
        always: where random numbers depend on what is fetched, the elements that every step fetches, so that a look
            does not change them; None elsewhere.
    """

    opened: OpenSession
    key: ProgramKey | None
    run: list[Any]
    carried: list[Any]
    output_fetches: Fetches
    in_bulk: list[Any]
    stride: int | None
    always: list[Any] | None

    @property
    def graph(self) -> tf.Graph:
        """The graph that the session runs."""
        return self.opened.program.graph


def prepare_run(
    program: Program,
    task: Task,
    hooks: HookChain,
    plan: SessionPlan,
    settings: StepSettings,
    source: SessionSource,
) -> PreparedRun:
    """Finds an open session for a run, or completes the program's graph for a new one. The graph must be the default.

    Hooks that only record are switched to bulk calls where the session has a loop.
    """
    looks = {key: Fetches(program.graph, {key: look}, hooks.find) for key, look in hooks.looks_at().items()}
    in_bulk = {key: look for key, look in looks.items() if hooks.can_report_in_bulk(key) and _can_be_recorded(look)}
    outputs = [part for part in (task.outputs, task.possible_outputs) if part is not None]
    output_elements = Fetches(program.graph, {OUTPUTS: outputs}).elements
    targets = _each_once([*task.run, *task.carried, *output_elements, *_elements_of(looks)])
    stride = 1 if task.count is None or plan.target else fixed_stride(program.graph, task.count, targets)
    # Hooks of TensorFlow fetch this with a step that counts, and do not say before which steps.
    may_be_read = hooks.unscheduled and task.count is not None
    step_reads = program.graph.get_collection(GLOBAL_STEP_READ_COLLECTION) if may_be_read else ()
    opened, key = source.session, source.key
    if opened is None and source.can_reuse and not plan.target and hooks.keep_to_context:
        key = _key(program, [*targets, *step_reads], settings, plan, vouched=source.vouched_key)
        opened = None if key is None else source.find(key)
        if opened is None and key is not None and not may_be_used_again(program, targets):
            key = None
    if opened is None:
        inputs = with_lighter_initializers(program.inputs, in_bursts=bool(settings.jit_compile))
        program = dataclasses.replace(program, inputs=inputs)
        order: Edges = ()
        if task.count is not None:
            mirror_products(program.graph, targets)
            order = settle_order(program.graph, [*targets, *step_reads], [*task.run, *task.carried])
        every = [*output_elements, *_bulk_elements(in_bulk, task)]
        loop = _loop(program, task, hooks, plan, settings, targets, _elements_of(looks), every, order, stride)
        compiled = (
            None
            if loop is None
            else _compiled(program, task, _each_once(output_elements), loop, settings.jit_compile, order)
        )
        finish_graph(program)
        files = None if source.vouched_key is None else digest_of_files(program.graph)
        opened = OpenSession(program, loop, files, compiled, settings)
    is_uninlined = opened.loop is None and find_uninlined_random_op(program.graph, targets) is not None
    always = _elements_of(looks) if is_uninlined else None
    return _in_session(opened, key, task, hooks, in_bulk, stride, always)


def _key(
    program: Program, targets: Sequence[Any], settings: StepSettings, plan: SessionPlan, vouched: ProgramKey | None
) -> ProgramKey | None:
    """The key of the program; None where only a new session is fresh."""
    if plan.find_checkpoint() is None or not is_left_alone(program):  # without one, each run draws new weights
        return None
    metrics = {} if program.evaluation is None else program.evaluation.values
    read = [element.name for element in Fetches(program.graph, {None: metrics}).elements]
    if vouched is not None:
        return vouched
    fetches = (*(target.name for target in targets), None, *read)
    return program_key(program.graph, program.inputs, program.mode, fetches, plan.config, settings)


def _loop(
    program: Program,
    task: Task,
    hooks: HookChain,
    plan: SessionPlan,
    settings: StepSettings,
    targets: Sequence[Any],
    last: Sequence[Any],
    every: Sequence[Any],
    order: Edges,
    stride: int | None,
) -> Loop | None:
    reason = why_not_fused(
        program.graph, targets, hooks.unscheduled, hooks.outside_steps, plan.target, settings.fuse_steps
    )
    if reason is None and stride is None:
        reason = "the global step does not move by a fixed number"
    unjoinable = next((element for element in every if not can_be_joined(element)), None)
    if reason is None and unjoinable is not None:
        reason = f"{unjoinable.name} may have another shape at each step"
    if reason is None and not task.run and not any(op.type == "IteratorGetNext" for op in step_ops(targets)[0]):
        reason = "the input is no dataset, and has no end"
    if reason is not None:
        logger.debug("Steps run one by one: %s.", reason)
        if settings.jit_compile:
            warn_once(f"steps are not compiled: they run one by one, as {reason}.", settings.jit_compile)
        return None
    return fuse(program.graph, task, _each_once(last), _each_once(every), order=order)


def _compiled(
    program: Program, task: Task, every: Sequence[Any], loop: Loop, jit_compile: Any, order: Edges
) -> CompiledLoop | None:
    if not jit_compile:
        return None
    targets = [*task.run, *task.carried, *every]
    part = host_part(targets)
    reason = why_not_compiled(program.graph, targets, part, jit_compile)
    if reason is not None:
        warn_once(f"steps are not compiled: {reason}.", jit_compile)
        return None
    return compile_loop(program.graph, task, every, loop, part, order)


def _in_session(
    opened: OpenSession,
    key: ProgramKey | None,
    task: Task,
    hooks: HookChain,
    in_bulk: Looks,
    stride: int | None,
    always: Sequence[Any] | None,
) -> PreparedRun:
    """The run, with its elements looked up in the graph of its session."""
    graph = opened.program.graph

    def in_graph(elements: Sequence[Any]) -> list[Any]:
        return [graph.as_graph_element(element.name) for element in elements]

    output_fetches = Fetches(graph, {} if task.outputs is None else {OUTPUTS: task.outputs})
    bulk: list[Any] = []
    if opened.loop is not None:
        hooks.report_in_bulk(list(in_bulk))
        known = {element.name for element in output_fetches.elements}
        bulk = [one for one in in_graph(_each_once(_bulk_elements(in_bulk, task))) if one.name not in known]
    always = None if always is None else in_graph(always)
    return PreparedRun(opened, key, in_graph(task.run), in_graph(task.carried), output_fetches, bulk, stride, always)


def _can_be_recorded(look: Fetches) -> bool:
    return not look.late and all(map(can_be_joined, look.elements))


def _bulk_elements(in_bulk: Looks, task: Task) -> list[Any]:
    return [*task.carried, *_elements_of(in_bulk)] if in_bulk else []


def _elements_of(looks: Looks) -> list[Any]:
    return [element for look in looks.values() for element in look.elements]


def _each_once(elements: Sequence[Any]) -> list[Any]:
    return list({element.name: element for element in elements}.values())
