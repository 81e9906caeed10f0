"""The session of a training: steps with hooks around those that hooks look at, and none around the others.

A run goes one of two ways, decided before its first step and kept to the end, because the ops of a step hold state of
their own (the generators of random ops), which must advance in one place:

- fused: all steps run in the loop that `fuse.py` adds to the graph, many in one call while nobody looks, a single one
  when somebody does;
- one by one: all steps run as the model built them. A hook that must see every step asks for it, or a graph that
  cannot be fused.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.engine.calls import CachedCalls
from lightwell.engine.faster_way import FasterWay, may_stay_in_thread
from lightwell.engine.fuse import FusedLoop, Progress, elements_of, fuse, not_tapped
from lightwell.engine.fuse_limits import why_not_fused
from lightwell.engine.fuse_record import Recording, can_be_recorded
from lightwell.engine.hooked_session import LOST_SESSION, HookedSession
from lightwell.engine.pace import Pace
from lightwell.engine.program import Program
from lightwell.engine.session import SessionPlan
from lightwell.engine.step_calls import StepCalls
from lightwell.engine.step_errors import explained_step_error
from lightwell.errors import HookError
from lightwell.hooks.base import SessionRunArgs
from lightwell.hooks.chain import HookChain, Request
from lightwell.hooks.context import RunContext
from lightwell.hooks.tensorflow_hooks import scheduled
from lightwell.log import logger

_FAR = 2**62  # a step that no training reaches


class TrainSession(HookedSession):
    """Runs the steps of a training program.

    Use it as `start()`, then `advance()` until `should_stop`, then `finish(error)`.

    Args:
        fuse_steps: `RunConfig.fuse_steps`.
    """

    def __init__(self, program: Program, hooks: Sequence[Any], plan: SessionPlan, fuse_steps: Any) -> None:
        adapted = [scheduled(hook, program.spec.loss) for hook in hooks]
        self._reason_against = why_not_fused(program, HookChain(adapted).unscheduled, plan.target, fuse_steps)
        super().__init__(program, adapted if self._reason_against is None else hooks, plan)
        self._fuse_steps = fuse_steps
        self._args = SessionRunArgs([program.spec.train_op, program.spec.loss])
        self._single = (program.spec.loss, program.step_after, program.spec.train_op)
        self._loop: FusedLoop | None = None
        self._step_calls: StepCalls | None = None
        self._no_metadata = tf.compat.v1.RunMetadata()  # there is something in it only where options ask for it
        self._pace = Pace()
        self._way = FasterWay(may_stay=False)
        self._stride = 1  # how far one step moves the counter
        self._global_step: int | None = None
        self._loss: Any = None

    @property
    def global_step(self) -> int | None:
        """The step counter as of the last step that ran."""
        return self._global_step

    @property
    def loss(self) -> Any:
        """The loss of the last step that ran, None before the first."""
        return self._loss

    def advance(self) -> None:
        """Runs at least one step: up to the next one that a hook must see, or that one.

        The program's graph must be the default one, which costs too much to arrange for each step.
        """
        self._insisting(self._advance)

    def _complete_graph(self) -> None:
        if self._reason_against is not None:
            logger.debug("Training steps run one by one: %s.", self._reason_against)
            return
        looks, graph = self._hooks.looks_at(), self._program.graph
        recorded = [(hook, look) for hook, look in looks if hook.in_bulk and can_be_recorded(elements_of(graph, look))]
        self._loop = fuse(self._program, [look for _, look in looks], [look for _, look in recorded])
        self._hooks.tell_in_bulk([hook for hook, _ in recorded])

    def _session_opened(self) -> None:
        self._global_step = int(self._session.run(self._program.global_step))
        may_stay = may_stay_in_thread(self._program, self._plan.target)
        if self._loop is not None:
            self._session.run(self._loop.prepare)
            self._calls = CachedCalls(self._session, self._loop.translated)
            self._way = FasterWay(may_stay)
        else:
            self._step_calls = StepCalls(self._session, self._single, may_stay)
        self._pace = Pace(self._fuse_steps)

    def _advance(self) -> None:
        if self._loop is None:
            self._look_step()
            return
        step = self._step_before()
        quiet_until = self._hooks.next_look(step) - max(self._stride, 1)
        if quiet_until <= step:
            self._look_step()
        else:
            self._quiet_steps(self._loop, quiet_until)

    def _quiet_steps(self, loop: FusedLoop, until: int) -> None:
        """Runs steps that nobody waits for, up to the global step `until`, a NaN, or the end of the call's time."""
        before, most = self._step_before(), self._pace.steps(self._hooks.next_look_seconds())
        if not self._stride:  # the counter cannot tell the loop when to come back
            most = 1
        recording = loop.recording if self._hooks.bulk_is_due(before, until) else None
        if recording is not None:
            most = min(most, recording.most)
        started = time.perf_counter()
        try:
            result = self._session.run(
                _with_tables(loop.result, recording.tables if recording else ()),
                {loop.most: most, loop.until: min(until, _FAR)},
                self._way.options,
            )
        except LOST_SESSION:
            raise
        except tf.errors.OpError as error:
            # The steps before the one that failed have happened.
            saved = self._session.run(_with_tables(loop.saved, recording.saved if recording else ()))
            if saved[0]:
                self._take_over(before, saved, recording)
            raise explained_step_error(error, self._program) from None
        self._pace.took(int(result[0]), time.perf_counter() - started)
        self._way.took(int(result[0]), time.perf_counter() - started)
        self._take_over(before, result, recording)

    def _take_over(self, before: int, result: Sequence[Any], recording: Recording | None) -> None:
        """The steps of a call have run: tells those who look at them."""
        done, loss, step, *tables = result
        self._move_counter(before, int(step), int(done))
        self._hooks.passed(int(done))
        if recording is not None:
            self._tell_in_bulk(before, int(done), tables, recording)
        if math.isnan(loss):
            self._show_nan(loss)
        self._loss = loss

    def _tell_in_bulk(self, before: int, steps: int, tables: Sequence[Any], recording: Recording) -> None:
        metadata = tf.compat.v1.RunMetadata()
        for row in range(steps):
            values = recording.values(tables, row)
            context = RunContext(self._args, self._session, self._view, before)
            request = self._hooks.before_run(context, in_bulk=True)
            context.global_step = before = int(values[self._program.step_after.name])
            context.loss_value = values[self._program.spec.loss.name]
            results = {hook: self._recorded(asked, values) for hook, asked in request.asked.items()}
            self._hooks.after_run(context, request, results, metadata, show_nan=False)
            self._stop_requested = self._stop_requested or context.stop_requested

    def _recorded(self, fetches: Any, values: Mapping[str, Any]) -> Any:
        """What a session would have returned for `fetches`, from values by tensor name."""
        if isinstance(fetches, tf.Tensor):
            if fetches.name not in values:
                raise not_tapped(fetches)
            return values[fetches.name]
        if type(fetches) is dict:
            return {key: self._recorded(fetch, values) for key, fetch in fetches.items()}
        element_of = self._program.graph.as_graph_element
        return tf.nest.map_structure(lambda leaf: self._recorded(element_of(leaf), values), fetches)

    def _show_nan(self, loss: Any) -> None:
        context = RunContext(self._args, self._session, self._view, self._global_step)
        context.loss_value = loss
        self._hooks.after_run(context, Request(), {}, tf.compat.v1.RunMetadata())
        self._stop_requested = self._stop_requested or context.stop_requested

    def _look_step(self) -> None:
        """Runs one step with the hooks that are due around it."""
        context = RunContext(self._args, self._session, self._view, self._step_before())
        request = self._hooks.before_run(context)
        if self._loop is not None:
            _check_feeds(request, self._loop)
        try:
            (loss, step, _), results, metadata = self._run_step(request)
        except tf.errors.OpError as error:
            raise explained_step_error(error, self._program) from None
        context.global_step, context.loss_value = int(step), loss
        self._hooks.after_run(context, request, results, metadata)
        self._hooks.passed(1, seen_by=request.due)
        # Only a step that all hooks saw through counts: a lost session repeats it.
        self._move_counter(self._step_before(), context.global_step, 1)
        self._loss = context.loss_value
        self._stop_requested = self._stop_requested or context.stop_requested

    def _run_step(self, request: Request) -> tuple[Any, Any, Any]:
        if self._calls is None:
            raise RuntimeError("A step was asked for before the session was started.")
        if self._step_calls is not None and not request.feeds and request.options is None:
            found = self._step_calls.run(request.asked)
            if found is not None:
                return *found, self._no_metadata
        metadata = tf.compat.v1.RunMetadata()
        fetches = (self._single, request.asked)
        results = self._calls.run(fetches, request.feeds, request.options, metadata, told_by=request.asked)
        return *results, metadata

    def _move_counter(self, before: int, after: int, steps: int) -> None:
        self._global_step = after
        self._stride = (after - before) // steps
        self._hooks.counter_moves_by(self._stride)

    def _step_before(self) -> int:
        if self._global_step is None:
            raise RuntimeError("A step was asked for before the session was started.")
        return self._global_step


def _check_feeds(request: Request, loop: FusedLoop) -> None:
    for key in request.feeds:
        if getattr(key, "name", key) not in loop.feedable:
            raise HookError(
                f"A scheduled hook feeds {getattr(key, 'name', key)!r}. Steps are fused, and only placeholders can be "
                "fed; derive the hook from tf.compat.v1.train.SessionRunHook to feed any tensor."
            )


def _with_tables(progress: Progress, tables: Sequence[Any]) -> list[Any]:
    return [progress.done, progress.loss, progress.global_step, *tables]
