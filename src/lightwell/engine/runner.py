"""The runner: takes the steps of a program, in every mode, with hooks around those that somebody looks at.

`start()`, then `advance()` until `should_stop`, then `finish(error)`. Train, evaluate and predict are this with another
task, other hooks, and another use of what is kept of the steps. Steps run one by one, or, up to the next one that a
hook must see, many in a call; hooks are called at the same steps and told the same either way.

Nothing stays entered between two calls, so that a generator can hand control back to the user's eager code.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.cluster import LOST_SESSION
from lightwell.devices.lookout import Lookout
from lightwell.engine.fetches import Fetches
from lightwell.engine.kept import Kept
from lightwell.engine.program import Program
from lightwell.engine.ready import KEEP, Ready, make_ready
from lightwell.engine.session import SessionPlan
from lightwell.engine.sessions import Opened, Prepared, Sessions
from lightwell.engine.steps import Steps
from lightwell.failures.step import explained_step_error
from lightwell.hooks.base import SessionRunArgs
from lightwell.hooks.chain import HookChain, Request
from lightwell.hooks.context import ModelView, RunContext
from lightwell.hooks.tensorflow_hooks import scheduled
from lightwell.log import logger
from lightwell.loops.task import Task

END_OF_INPUT = (tf.errors.OutOfRangeError, StopIteration)
_LOST = (
    "An error was raised%s. This may be due to a preemption in a connected worker or parameter server. The current "
    "session will be closed and a new session will be created. Error: %s"
)


class Runner:
    """Runs the steps of one program.

    Args:
        program: the program.
        task: what each step does.
        hooks: who looks on, in order.
        plan: how to open a session.
        fuse_steps: `RunConfig.fuse_steps`.
        jit_compile: `RunConfig.jit_compile`.
        sessions: where sessions wait to be used again; None for a new one each time.
        prepared: a session of this program that is open already, or under what to keep one.
    """

    def __init__(
        self,
        program: Program,
        task: Task,
        hooks: Sequence[Any],
        plan: SessionPlan,
        fuse_steps: Any,
        *,
        jit_compile: Any = False,
        sessions: Sessions | None = None,
        prepared: Prepared | None = None,
    ) -> None:
        adapted = [scheduled(hook, task.loss) for hook in hooks]
        is_fusible = not HookChain(adapted).unscheduled and fuse_steps not in (False, None)
        self._hooks = HookChain(adapted if is_fusible else hooks, program.find)
        self._program, self._task, self._plan, self._fuse_steps = program, task, plan, fuse_steps
        self._jit_compile = jit_compile
        self._sessions, self._prepared = sessions, prepared or Prepared(program)
        self._ready: Ready | None = None
        self._generation = sessions.generation if sessions is not None else 0
        self._view = ModelView(
            program.mode, program.inputs.features, program.inputs.labels, program.spec, program.layers.by_name()
        )
        self._args = SessionRunArgs(task.original)
        self._coordinator: Any = None
        self._lookout: Lookout | None = None
        self._queue_threads: list[Any] = []
        self._stop_requested = False
        self._failure: BaseException | None = None
        self._count = self._batch = 0
        self._loss: Any = None

    @property
    def session(self) -> Any:
        """The open `tf.compat.v1.Session`, or None."""
        return None if self._ready is None else self._ready.opened.session

    @property
    def should_stop(self) -> bool:
        """Whether a hook asked to stop, or the input's threads ended."""
        return self._stop_requested or (self._coordinator is not None and self._coordinator.should_stop())

    @property
    def was_told_to_stop(self) -> bool:
        """Whether a hook asked to stop; a run that ended without that came to the end of its input."""
        return self._stop_requested

    @property
    def count(self) -> int:
        """How far the run is: the global step in training, else the batches that were run."""
        return self._count

    @property
    def loss(self) -> Any:
        """The loss of the last step that ran, None before the first."""
        return self._loss

    @property
    def restored(self) -> str | None:
        """The checkpoint that the weights are of; None for initial ones."""
        return self._now.opened.restored

    @property
    def is_new(self) -> bool:
        """Whether its session was opened for this run."""
        is_its_own = self._ready is not None and self._ready.opened.program.graph is self._program.graph
        return is_its_own and self._prepared.opened is None

    def start(self) -> None:
        """Lets the hooks begin, finds or opens a session, and starts the input."""
        with self._program.graph.as_default(), self._program.graph.device(self._program.device):
            self._hooks.begin()
            self._ready = make_ready(
                self._program,
                self._task,
                self._hooks,
                self._plan,
                (self._fuse_steps, self._jit_compile),
                self._sessions,
                self._prepared,
            )
        self._hooks.count_moves_by(self._ready.stride)
        with self._now.graph.as_default():
            self._open()

    def advance(self) -> Kept:
        """Runs at least one step: up to the next one that a hook must see, or that one; gives what is kept of them.

        Raises:
            OutOfRangeError: the input is at its end.
        """
        self._raise_failure()
        with self._now.graph.as_default():
            return self._insisting(self._advance)

    def run_to_end(self) -> None:
        """Runs steps until a hook asks to stop, or the input ends."""
        with contextlib.suppress(*END_OF_INPUT), self._now.graph.as_default():
            while not self.should_stop:
                self._insisting(self._advance)
                self._raise_failure()

    def fetch(self, fetches: Any) -> Any:
        """Reads a structure of tensors that depend on no step, no hook looking on."""
        found = Fetches(self._now.graph, {None: fetches})
        with self._now.graph.as_default():
            return found.read(self._now.opened.calls.run(found.elements))[None]

    def kept_structure(self, values: Sequence[Any]) -> Any:
        """The task's `keep`, with the values of its elements in place."""
        return self._now.kept.read(values)[KEEP]

    def finish(self, error: BaseException | None = None) -> None:
        """Calls the hooks' `end`, unless there was an error, and closes the session or keeps it for the next run."""
        if self._lookout is not None:
            self._lookout.stop()
        try:
            if error is None and self.session is not None:
                with self._now.graph.as_default():
                    self._hooks.end(self.session)
        finally:
            if not self._prepared.is_held:
                self._hooks.close()
            is_sound = error is None or isinstance(error, GeneratorExit)
            ready, self._ready = self._ready, None
            opened = self._prepared.opened if ready is None else ready.opened
            if ready is not None and is_sound and self._sessions is not None and ready.key is not None:
                self._sessions.keep(ready.key, ready.opened, self._generation)
            elif opened is not None:
                self._close(opened)
                opened.free() if self._sessions is None else self._sessions.let_go(opened)

    # Opening and closing

    @property
    def _now(self) -> Ready:
        if self._ready is None:
            raise RuntimeError("A step was asked for before the run was started.")
        return self._ready

    def _open(self) -> None:
        while True:
            try:
                count = Fetches(self._now.graph, {} if self._task.count is None else {None: self._program.global_step})
                inputs = self._prepared.inputs or self._program.inputs
                counted = count.read(self._now.opened.start(self._plan, inputs, count.elements))
                if self._plan.member is not None:
                    self._lookout = Lookout(self._plan.member, self.session)
                self._start_queues()
                self._steps = Steps(self._now, self._hooks.find)
                self._batch = 0
                self._count = int(counted.get(None, 0))
                self._hooks.after_create_session(self.session, self._coordinator)
            except LOST_SESSION as error:
                self._close(self._now.opened)
                if self._plan.member is not None:
                    self._plan.member.raise_if_it_cannot_go_on(error)
                    self._plan.member.pause()
                logger.info(_LOST, " while a session was being created", error)
            except BaseException:
                self._close(self._now.opened)
                if self._lookout is not None:
                    self._lookout.raise_what_was_seen()
                raise
            else:
                return

    def _start_queues(self) -> None:
        self._coordinator = tf.train.Coordinator(clean_stop_exception_types=END_OF_INPUT)
        if self._now.graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS):
            self._queue_threads = tf.compat.v1.train.start_queue_runners(self.session, coord=self._coordinator)

    def _close(self, opened: Opened) -> None:
        if self._lookout is not None:
            self._lookout.stop()
        if self._coordinator is not None:
            self._coordinator.request_stop()
        opened.close()
        if self._queue_threads:
            self._coordinator.join(self._queue_threads, stop_grace_period_secs=10, ignore_live_threads=True)
            self._queue_threads = []

    def _insisting(self, act: Callable[[], Any]) -> Any:
        """Does `act`; again in a new session as long as the session is lost."""
        while True:
            try:
                return act()
            except Exception as error:
                if self._lookout is not None:
                    self._lookout.raise_what_was_seen()
                if not isinstance(error, LOST_SESSION):
                    raise
                if self._plan.member is not None:
                    self._plan.member.raise_if_it_cannot_go_on(error)
                logger.info(_LOST, "", error)
                self._close(self._now.opened)
                self._open()

    # Steps

    def _raise_failure(self) -> None:
        """A step failed after others of its call, which have been told of by now."""
        if self._failure is not None and not self.should_stop:
            failure, self._failure = self._failure, None
            raise failure from None

    def _advance(self) -> Kept:
        if self._steps.can_be_many:
            quiet_until = self._hooks.next_look(self._count) - (self._now.stride or 1)
            if quiet_until > self._count:
                return self._quiet_steps(quiet_until)
        return self._look_step()

    def _look_step(self) -> Kept:
        """Runs one step with the hooks that are due around it."""
        context = self._context(self._count, self._batch + 1)
        request = self._hooks.before_run(context)
        try:
            ran, results, metadata = self._steps.one(request.asked, request.feeds, request.options)
        except tf.errors.OpError as error:
            raise explained_step_error(error, self._program, context.batch) from None
        self._told(context, ran.carried)
        self._hooks.after_run(context, request, results, metadata)
        self._hooks.passed(1, seen_by=request.due)
        # Only a step that all hooks saw through counts: a lost session repeats it.
        self._moved(context, 1)
        return ran.kept

    def _quiet_steps(self, until: int) -> Kept:
        """Runs steps that nobody waits for, up to the count `until`, a NaN, or the end of the call's time."""
        before = self._count
        pace = self._now.opened.pace
        most = pace.steps(self._hooks.next_look_seconds())
        if self._task.count is None:
            most = min(most, until - before)
        else:
            most = min(most, -((before - until) // (self._now.stride or 1)))
        started = time.perf_counter()
        left = self._hooks.goal - before if self._task.count is not None else math.inf
        ran = self._steps.many(most, until, left, record=self._hooks.bulk_is_due(before, until))
        if ran.failure is not None:
            self._failure = explained_step_error(ran.failure, self._program, self._batch + ran.steps + 1)
            self._failure.__context__ = ran.failure  # at hand for whoever looks deeper
        if not ran.steps and self._failure is not None:
            raise self._failure from None
        if not ran.prepares:
            seconds = time.perf_counter() - started
            pace.took(ran.steps, seconds, ran.bytes, is_last=ran.failure is not None)
            self._steps.took(ran, seconds)
        context = self._context(before, self._batch + ran.steps)
        self._told(context, ran.carried, ran.steps)
        self._hooks.passed(ran.steps)
        self._tell_in_bulk(before, ran.recorded)
        if context.loss_value is not None and math.isnan(context.loss_value):
            self._hooks.after_run(context, Request(), {}, tf.compat.v1.RunMetadata())
        self._moved(context, ran.steps)
        return ran.kept

    def _tell_in_bulk(self, count: int, recorded: Sequence[Mapping[str, Any]]) -> None:
        """Tells the hooks that only record of steps that have run, one by one."""
        no_metadata = tf.compat.v1.RunMetadata()
        for place, values in enumerate(recorded):
            context = self._context(count, self._batch + place + 1)
            request = self._hooks.before_run(context, in_bulk=True)
            self._told(context, [values[tensor.name] for tensor in self._now.carried])
            results = self._steps.recorded(request.asked, values)
            self._hooks.after_run(context, request, results, no_metadata, show_nan=False)
            self._stop_requested = self._stop_requested or context.stop_requested
            count = context.count

    def _context(self, count: int, batch: int) -> RunContext:
        return RunContext(self._args, self.session, self._view, count, batch, self.fetch)

    def _told(self, context: RunContext, carried: Sequence[Any], steps: int = 1) -> None:
        """Writes into the context what a step, or the last of several, came to."""
        found = iter(carried)
        if self._task.loss is not None:
            context.loss_value = next(found)
        context.count = int(next(found)) if self._task.count is not None else context.count_before + steps

    def _moved(self, context: RunContext, steps: int) -> None:
        self._loss = context.loss_value
        self._stop_requested = self._stop_requested or context.stop_requested
        self._count = context.count
        self._batch += steps
