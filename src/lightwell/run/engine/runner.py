"""The runner: runs the steps of a program, in every mode, with hooks around those that a hook looks at.

`start()`, then `advance()` until `should_stop`, then `finish(error)`. Train, evaluate and predict differ in task and
hooks, and in what they do with the outputs of steps. Steps run one by one, or many in a call up to the next look; hooks
are called at the same steps and with the same values either way.

Nothing stays entered between two calls, so that a generator can return control to the user's eager code.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger, without_deprecations
from lightwell.run.cluster import LOST_SESSION
from lightwell.run.devices.gpus import compile_setting
from lightwell.run.devices.peer_monitor import PeerMonitor
from lightwell.run.engine.fetches import Fetches
from lightwell.run.engine.preparation import OUTPUTS, PreparedRun, prepare_run
from lightwell.run.engine.program import Program
from lightwell.run.engine.session import SessionPlan
from lightwell.run.engine.session_pool import OpenSession
from lightwell.run.engine.session_source import ColdSource, SessionSource
from lightwell.run.engine.step_outputs import StepOutputs
from lightwell.run.engine.steps import Steps
from lightwell.run.failures.step import explained_step_error
from lightwell.run.hooks.base import SessionRunArgs
from lightwell.run.hooks.chain import HookChain, HookRequest
from lightwell.run.hooks.context import ModelView, RunContext
from lightwell.run.hooks.tensorflow_hooks import scheduled
from lightwell.run.loops.task import StepSettings, Task

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
        hooks: the hooks, in order.
        plan: how to open a session.
        fuse_steps: `RunConfig.fuse_steps`.
        jit_compile: `RunConfig.jit_compile`.
        source: where its session comes from; None for a new one that is closed at the end.
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
        source: SessionSource | None = None,
    ) -> None:
        adapted = [scheduled(hook, task.loss) for hook in hooks]
        is_fusible = not HookChain(adapted).unscheduled and fuse_steps not in (False, None)
        self._hooks = HookChain(adapted if is_fusible else hooks, program.find)
        self._program, self._task, self._plan = program, task, plan
        self._settings = StepSettings(fuse_steps, compile_setting(jit_compile, plan.config))
        self._source = ColdSource() if source is None else source
        self._first_session = self._source.session
        self._ready: PreparedRun | None = None
        self._view = ModelView(
            program.mode, program.inputs.features, program.inputs.labels, program.spec, program.layers.by_name()
        )
        self._args = SessionRunArgs(task.original)
        self._coordinator: Any = None
        self._lookout: PeerMonitor | None = None
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
        """Whether a hook requested it, or the input's threads ended."""
        return self._stop_requested or (self._coordinator is not None and self._coordinator.should_stop())

    @property
    def stop_was_requested(self) -> bool:
        """Whether a hook requested a stop; else the run ended with its input."""
        return self._stop_requested

    @property
    def count(self) -> int:
        """The global step in training, else the number of batches that were run."""
        return self._count

    @property
    def loss(self) -> Any:
        """The loss of the last step that result, None before the first."""
        return self._loss

    @property
    def restored(self) -> str | None:
        """The checkpoint that the weights are of; None for initial ones."""
        return self._started.opened.restored

    @property
    def is_new(self) -> bool:
        """Whether its session was opened for this run."""
        is_its_own = self._ready is not None and self._ready.opened.program.graph is self._program.graph
        return is_its_own and self._first_session is None

    def start(self) -> None:
        """Calls `begin` of the hooks, finds or opens a session, and starts the input."""
        with self._program.graph.as_default(), self._program.graph.device(self._program.device):
            self._hooks.begin()
            self._ready = prepare_run(
                self._program,
                self._task,
                self._hooks,
                self._plan,
                self._settings,
                self._source,
            )
        self._hooks.count_moves_by(self._ready.stride)
        with self._started.graph.as_default():
            self._open()

    def advance(self) -> StepOutputs:
        """Runs at least one step: up to the next one that a hook must see, or that one; returns the outputs of them.

        Raises:
            OutOfRangeError: the input is at its end.
        """
        self._raise_failure()
        with self._started.graph.as_default():
            return self._retry_lost_sessions(self._advance)

    def run_to_end(self) -> None:
        """Runs steps until a hook requests a stop, or the input ends."""
        with contextlib.suppress(*END_OF_INPUT), self._started.graph.as_default():
            while not self.should_stop:
                self._retry_lost_sessions(self._advance)
                self._raise_failure()

    def fetch(self, fetches: Any) -> Any:
        """Reads a structure of tensors that depend on no step; calls no hook."""
        elements = Fetches(self._started.graph, {None: fetches})
        with self._started.graph.as_default():
            return elements.read(self._started.opened.calls.run(elements.elements))[None]

    def output_structure(self, values: Sequence[Any]) -> Any:
        """The task's `outputs`, with the values of their elements in place."""
        return self._started.output_fetches.read(values)[OUTPUTS]

    def finish(self, error: BaseException | None = None) -> None:
        """Calls the hooks' `end`, unless there was an error, and closes the session or stores it for the next run."""
        if self._lookout is not None:
            self._lookout.stop()
        try:
            if error is None and self.session is not None:
                with self._started.graph.as_default():
                    self._hooks.end(self.session)
        finally:
            if self._source.closes_hooks:
                self._hooks.close()
            is_sound = error is None or isinstance(error, GeneratorExit)
            ready, self._ready = self._ready, None
            opened = self._first_session if ready is None else ready.opened
            if ready is not None and is_sound and ready.key is not None:
                self._source.store(ready.opened, ready.key)
            elif opened is not None:
                self._close(opened)
                self._source.discard(opened)

    # Opening and closing

    @property
    def _started(self) -> PreparedRun:
        if self._ready is None:
            raise RuntimeError("A step was requested before the run was started.")
        return self._ready

    def _open(self) -> None:
        while True:
            try:
                count = Fetches(
                    self._started.graph, {} if self._task.count is None else {None: self._program.global_step}
                )
                inputs = self._source.inputs or self._program.inputs
                counted = count.read(self._started.opened.start(self._plan, inputs, count.elements))
                if self._plan.member is not None:
                    self._lookout = PeerMonitor(self._plan.member, self.session)
                self._start_queues()
                self._steps = Steps(self._started, self._hooks.find)
                self._batch = 0
                self._count = int(counted.get(None, 0))
                self._hooks.after_create_session(self.session, self._coordinator)
            except LOST_SESSION as error:
                self._close(self._started.opened)
                if self._plan.member is not None:
                    self._plan.member.raise_unless_resumable(error)
                    self._plan.member.pause()
                logger.info(_LOST, " while a session was being created", error)
            except BaseException:
                self._close(self._started.opened)
                if self._lookout is not None:
                    self._lookout.raise_if_ended()
                raise
            else:
                return

    def _start_queues(self) -> None:
        self._coordinator = tf.train.Coordinator(clean_stop_exception_types=END_OF_INPUT)
        if self._started.graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS):
            with without_deprecations():
                self._queue_threads = tf.compat.v1.train.start_queue_runners(self.session, coord=self._coordinator)

    def _close(self, opened: OpenSession) -> None:
        if self._lookout is not None:
            self._lookout.stop()
        if self._coordinator is not None:
            self._coordinator.request_stop()
        opened.close()
        if self._queue_threads:
            self._coordinator.join(self._queue_threads, stop_grace_period_secs=10, ignore_live_threads=True)
            self._queue_threads = []

    def _retry_lost_sessions(self, act: Callable[[], Any]) -> Any:
        """Calls `act`, and again in a new session as long as the session is lost."""
        while True:
            try:
                return act()
            except Exception as error:
                if self._lookout is not None:
                    self._lookout.raise_if_ended()
                if not isinstance(error, LOST_SESSION):
                    raise
                if self._plan.member is not None:
                    self._plan.member.raise_unless_resumable(error)
                logger.info(_LOST, "", error)
                self._close(self._started.opened)
                self._open()

    # Steps

    def _raise_failure(self) -> None:
        """Raises the error of a step that failed after others of its call, once hooks have seen those."""
        if self._failure is not None and not self.should_stop:
            failure, self._failure = self._failure, None
            raise failure from None

    def _advance(self) -> StepOutputs:
        if self._steps.can_be_many:
            quiet_until = self._hooks.next_look(self._count) - (self._started.stride or 1)
            if quiet_until > self._count:
                return self._quiet_steps(quiet_until)
        return self._look_step()

    def _look_step(self) -> StepOutputs:
        """Runs one step with the hooks that are due around it."""
        context = self._context(self._count, self._batch + 1)
        request = self._hooks.before_run(context)
        try:
            result, hook_values, metadata = self._steps.one(request.fetches, request.feeds, request.options)
        except tf.errors.OpError as error:
            raise explained_step_error(error, self._program, context.batch) from None
        self._set_results(context, result.carried)
        self._hooks.after_run(context, request, hook_values, metadata)
        self._hooks.passed(1, seen_by=request.due)
        # A step counts once all hooks have seen it: a lost session repeats it.
        self._count_steps(context, 1)
        return result.outputs

    def _quiet_steps(self, until: int) -> StepOutputs:
        """Runs steps that no hook looks at, up to the count `until`, a NaN, or the end of the call's time."""
        before = self._count
        pace = self._started.opened.pace
        most = pace.steps(self._hooks.next_look_seconds())
        if self._task.count is None:
            most = min(most, until - before)
        else:
            most = min(most, -((before - until) // (self._started.stride or 1)))
        started = time.perf_counter()
        left = self._hooks.goal - before if self._task.count is not None else math.inf
        result = self._steps.many(most, until, left, record=self._hooks.bulk_is_due(before, until))
        if result.failure is not None:
            self._failure = explained_step_error(result.failure, self._program, self._batch + result.steps + 1)
            self._failure.__context__ = result.failure
        if not result.steps and self._failure is not None:
            raise self._failure from None
        if not result.prepares:
            seconds = time.perf_counter() - started
            pace.record_duration(result.steps, seconds, result.bytes, is_last=result.failure is not None)
            self._steps.record_duration(result, seconds)
        context = self._context(before, self._batch + result.steps)
        self._set_results(context, result.carried, result.steps)
        self._hooks.passed(result.steps)
        self._call_hooks_in_bulk(before, result.recorded)
        if context.loss_value is not None and math.isnan(context.loss_value):
            self._hooks.after_run(context, HookRequest(), {}, tf.compat.v1.RunMetadata())
        self._count_steps(context, result.steps)
        return result.outputs

    def _call_hooks_in_bulk(self, count: int, recorded: Sequence[Mapping[str, Any]]) -> None:
        """Calls the hooks that only record, for steps that have run, one by one."""
        no_metadata = tf.compat.v1.RunMetadata()
        for place, values in enumerate(recorded):
            context = self._context(count, self._batch + place + 1)
            request = self._hooks.before_run(context, in_bulk=True)
            self._set_results(context, [values[tensor.name] for tensor in self._started.carried])
            results = self._steps.recorded(request.fetches, values)
            self._hooks.after_run(context, request, results, no_metadata, show_nan=False)
            self._stop_requested = self._stop_requested or context.stop_requested
            count = context.count

    def _context(self, count: int, batch: int) -> RunContext:
        return RunContext(self._args, self.session, self._view, count, batch, self.fetch)

    def _set_results(self, context: RunContext, carried: Sequence[Any], steps: int = 1) -> None:
        """Sets the loss and the count of the last step in the context."""
        values = iter(carried)
        if self._task.loss is not None:
            context.loss_value = next(values)
        context.count = int(next(values)) if self._task.count is not None else context.count_before + steps

    def _count_steps(self, context: RunContext, steps: int) -> None:
        self._loss = context.loss_value
        self._stop_requested = self._stop_requested or context.stop_requested
        self._count = context.count
        self._batch += steps
