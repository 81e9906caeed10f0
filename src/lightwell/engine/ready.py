"""Getting ready to run: what steps will be asked for is made known, and a session found or prepared that can give it.

Takes a program with its task, and hooks that have begun; gives a `Ready`, whose session has yet to be started. The
session may be one that is open already, of a program equal to this one: all is found in its graph by name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.engine.fetches import Fetches
from lightwell.engine.freshness import digest_of_files, is_left_alone, may_be_used_again, program_key
from lightwell.engine.program import Program
from lightwell.engine.session import SessionPlan, finish_graph
from lightwell.engine.sessions import Opened, Prepared, Sessions
from lightwell.hooks.chain import HookChain
from lightwell.inputs.unpack import with_lighter_initializers
from lightwell.keys import GLOBAL_STEP_READS
from lightwell.log import logger
from lightwell.loops.compilable import tell_once, why_not_compiled
from lightwell.loops.compiled import Compiled, compile_loop
from lightwell.loops.counter import fixed_stride
from lightwell.loops.fusible import draws_apart, why_not_fused
from lightwell.loops.host_part import host_part
from lightwell.loops.loop import Loop, can_be_kept, fuse
from lightwell.loops.order import settle_order
from lightwell.loops.products import mirror_products
from lightwell.loops.step_copy import Edges, step_ops
from lightwell.loops.task import Task

KEEP = "keep"
Looks = Mapping[int, Fetches]
"""By the id of each hook that has a schedule, all that it may look at."""


@dataclass(frozen=True, eq=False)
class Ready:
    """A run about to start. All elements are of the graph that the session runs.

    Attributes:
        opened: the session.
        key: under which to keep the session afterwards; None to close it.
        run: ops to run in each step.
        carried: numbers that come with each step.
        kept: the task's `keep`, under the key `KEEP`.
        in_bulk: what has to be kept of every step, beside that, to tell hooks of it later.
        stride: by how much each step moves the count; None where only the step itself tells.
        always: where random numbers depend on what is fetched, and how: what is fetched with every step, asked for
            or not, so that a look does not change them; None elsewhere.
    """

    opened: Opened
    key: Hashable
    run: list[Any]
    carried: list[Any]
    kept: Fetches
    in_bulk: list[Any]
    stride: int | None
    always: list[Any] | None

    @property
    def graph(self) -> tf.Graph:
        """The graph that the session runs."""
        return self.opened.program.graph


def make_ready(
    program: Program,
    task: Task,
    hooks: HookChain,
    plan: SessionPlan,
    how: tuple[Any, Any],
    sessions: Sessions | None,
    prepared: Prepared,
) -> Ready:
    """Finds an open session for a run, or completes the program's graph for a new one. The graph must be the default.

    Hooks that may be told of many steps at once are told that they will be, where the session has a loop for it. `how`
    is `RunConfig.fuse_steps` and `RunConfig.jit_compile`.
    """
    looks = {key: Fetches(program.graph, {key: look}, hooks.find) for key, look in hooks.looks_at().items()}
    in_bulk = {key: look for key, look in looks.items() if hooks.may_be_told_in_bulk(key) and _can_be_recorded(look)}
    keep = [part for part in (task.keep, task.may_keep) if part is not None]
    keepable = Fetches(program.graph, {KEEP: keep}).elements
    targets = _each_once([*task.run, *task.carried, *keepable, *_elements_of(looks)])
    stride = 1 if task.count is None or plan.target else fixed_stride(program.graph, task.count, targets)
    # Hooks of TensorFlow's fetch this with a step that counts, and nobody knows before which steps.
    may_be_read = hooks.unscheduled and task.count is not None
    beside = program.graph.get_collection(GLOBAL_STEP_READS) if may_be_read else ()
    opened, key = prepared.opened, prepared.key if prepared.opened is not None else None
    if opened is None and sessions is not None and not plan.target and hooks.keep_to_context:
        key = _key(program, [*targets, *beside], how, plan, vouched=prepared.key)
        opened = None if key is None or prepared.key is not None else sessions.take(key)
        if opened is None and key is not None and not may_be_used_again(program, targets):
            key = None
    if opened is None:
        inputs = with_lighter_initializers(program.inputs, in_bursts=bool(how[1]))
        program = dataclasses.replace(program, inputs=inputs)
        order: Edges = ()
        if task.count is not None:
            mirror_products(program.graph, targets)
            order = settle_order(program.graph, [*targets, *beside], [*task.run, *task.carried])
        every = [*keepable, *_bulk_elements(in_bulk, task)]
        loop = _loop(program, task, hooks, plan, how, targets, _elements_of(looks), every, order, stride)
        compiled = None if loop is None else _compiled(program, task, _each_once(keepable), loop, how[1], order)
        finish_graph(program)
        files = None if prepared.key is None else digest_of_files(program.graph)
        opened = Opened(program, loop, prepared.seen, files, compiled, how)
    is_apart = opened.loop is None and draws_apart(program.graph, targets) is not None
    always = _elements_of(looks) if is_apart else None
    return _in_session(opened, key, task, hooks, in_bulk, stride, always)


def _key(program: Program, targets: Sequence[Any], how: Any, plan: SessionPlan, vouched: Hashable) -> Hashable:
    """What finds a session of an equal program; None where only a new one is fresh."""
    if plan.find_checkpoint() is None or not is_left_alone(program):  # without one, weights are drawn anew each time
        return None
    metrics = {} if program.evaluation is None else program.evaluation.values
    read = [element.name for element in Fetches(program.graph, {None: metrics}).elements]
    if vouched is not None:
        return vouched
    fetches = (*(target.name for target in targets), None, *read)
    return program_key(program.graph, program.inputs, program.mode, fetches, plan.config, how)


def _loop(
    program: Program,
    task: Task,
    hooks: HookChain,
    plan: SessionPlan,
    how: tuple[Any, Any],
    targets: Sequence[Any],
    last: Sequence[Any],
    every: Sequence[Any],
    order: Edges,
    stride: int | None,
) -> Loop | None:
    reason = why_not_fused(program.graph, targets, hooks.unscheduled, hooks.outside_steps, plan.target, how[0])
    if reason is None and stride is None:
        reason = "the global step does not move by a fixed number"
    apart = next((element for element in every if not can_be_kept(element)), None)
    if reason is None and apart is not None:
        reason = f"{apart.name} may have another shape at each step"
    if reason is None and not task.run and not any(op.type == "IteratorGetNext" for op in step_ops(targets)[0]):
        reason = "the input is no dataset, and has no end"
    if reason is not None:
        logger.debug("Steps run one by one: %s.", reason)
        if how[1]:
            tell_once(f"steps are not compiled: they run one by one, as {reason}.")
        return None
    return fuse(program.graph, task, _each_once(last), _each_once(every), order=order)


def _compiled(
    program: Program, task: Task, keep: Sequence[Any], loop: Loop, jit_compile: Any, order: Edges
) -> Compiled | None:
    if not jit_compile:
        return None
    targets = [*task.run, *task.carried, *keep]
    part = host_part(targets)
    reason = why_not_compiled(program.graph, targets, part, jit_compile)
    if reason is not None:
        tell_once(f"steps are not compiled: {reason}.")
        return None
    return compile_loop(program.graph, task, keep, loop, part, order)


def _in_session(
    opened: Opened,
    key: Hashable,
    task: Task,
    hooks: HookChain,
    in_bulk: Looks,
    stride: int | None,
    always: Sequence[Any] | None,
) -> Ready:
    """All that a run will fetch, found in the graph of its session."""
    graph = opened.program.graph

    def found(elements: Sequence[Any]) -> list[Any]:
        return [graph.as_graph_element(element.name) for element in elements]

    kept = Fetches(graph, {} if task.keep is None else {KEEP: task.keep})
    bulk: list[Any] = []
    if opened.loop is not None:
        hooks.tell_in_bulk(list(in_bulk))
        known = {element.name for element in kept.elements}
        bulk = [one for one in found(_each_once(_bulk_elements(in_bulk, task))) if one.name not in known]
    always = None if always is None else found(always)
    return Ready(opened, key, found(task.run), found(task.carried), kept, bulk, stride, always)


def _can_be_recorded(look: Fetches) -> bool:
    return not look.late and all(map(can_be_kept, look.elements))


def _bulk_elements(in_bulk: Looks, task: Task) -> list[Any]:
    return [*task.carried, *_elements_of(in_bulk)] if in_bulk else []


def _elements_of(looks: Looks) -> list[Any]:
    return [element for look in looks.values() for element in look.elements]


def _each_once(elements: Sequence[Any]) -> list[Any]:
    return list({element.name: element for element in elements}.values())
