"""A session with hooks around it: TensorFlow's `MonitoredSession` contract, driven by us.

Owns the life of a run: `begin` of the hooks, the final graph, the session, the steps, the way out. A session that is
lost (`AbortedError`, `UnavailableError`: a machine of the cluster went away) is opened again and the hooks told.

Nothing stays entered between two calls: the graph is the default one while hooks and the session run, and only then, so
that a generator can hand control back to the user's eager code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.engine.calls import CachedCalls
from lightwell.engine.program import Program
from lightwell.engine.session import SessionPlan, finish_graph, open_session
from lightwell.hooks.base import SessionRunArgs
from lightwell.hooks.chain import HookChain
from lightwell.hooks.context import ModelView, RunContext
from lightwell.keys import ModeKeys
from lightwell.log import logger

LOST_SESSION = (tf.errors.AbortedError, tf.errors.UnavailableError)
END_OF_INPUT = (tf.errors.OutOfRangeError, StopIteration)

_LOST = (
    "An error was raised%s. This may be due to a preemption in a connected worker or parameter server. The current "
    "session will be closed and a new session will be created. Error: %s"
)


class HookedSession:
    """Runs the steps of one program.

    Use it as `start()`, then `step(fetches)` until `should_stop`, then `finish(error)`.
    """

    def __init__(self, program: Program, hooks: Sequence[Any], plan: SessionPlan) -> None:
        self._program = program
        self._plan = plan
        self._hooks = HookChain(hooks, program.find)
        self._view = ModelView(
            program.mode, program.inputs.features, program.inputs.labels, program.spec, program.layers.by_name()
        )
        self._session: Any = None
        self._calls: CachedCalls | None = None
        self._coordinator: Any = None
        self._queue_threads: list[Any] = []
        self._stop_requested = False
        self._global_step: int | None = None

    @property
    def session(self) -> Any:
        """The open `tf.compat.v1.Session`, or None."""
        return self._session

    @property
    def global_step(self) -> int | None:
        """In training, the step counter as of the last step that ran."""
        return self._global_step

    @property
    def should_stop(self) -> bool:
        """Whether a hook asked to stop, or the input's threads ended."""
        return self._stop_requested or (self._coordinator is not None and self._coordinator.should_stop())

    def start(self) -> None:
        """Lets the hooks begin, makes the graph final and opens the session."""
        with self._program.graph.as_default():
            self._hooks.begin()
            finish_graph(self._program)
            self._open()

    def step(self, fetches: Any) -> Any:
        """Runs one step with all hooks around it; on a lost session, opens a new one and tries again."""
        with self._program.graph.as_default():
            while True:
                try:
                    return self._step(fetches)
                except LOST_SESSION as error:
                    logger.info(_LOST, "", error)
                    self._close_session()
                    self._open()

    def finish(self, error: BaseException | None = None) -> None:
        """Calls the hooks' `end`, unless there was an error, and closes the session."""
        try:
            if error is None and self._session is not None:
                with self._program.graph.as_default():
                    self._hooks.end(self._session)
        finally:
            self._hooks.close()
            self._close_session()

    def run_without_hooks(self, fetches: Any) -> Any:
        """Runs `fetches` in the session, no hook looking on."""
        with self._program.graph.as_default():
            return self._session.run(fetches)

    def _open(self) -> None:
        while True:
            try:
                self._session = open_session(self._program, self._plan)
                self._calls = CachedCalls(self._session)
                self._start_queues()
                if self._program.mode == ModeKeys.TRAIN:
                    self._global_step = int(self._session.run(self._program.global_step))
                self._hooks.after_create_session(self._session, self._coordinator)
            except LOST_SESSION as error:
                logger.info(_LOST, " while a session was being created", error)
                self._close_session()
            except BaseException:
                self._close_session()
                raise
            else:
                return

    def _start_queues(self) -> None:
        self._coordinator = tf.train.Coordinator(clean_stop_exception_types=END_OF_INPUT)
        if self._program.graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS):
            self._queue_threads = tf.compat.v1.train.start_queue_runners(self._session, coord=self._coordinator)

    def _step(self, fetches: Any) -> Any:
        context = RunContext(SessionRunArgs(fetches), self._session, self._view, self._global_step)
        request = self._hooks.before_run(context)
        training = self._program.mode == ModeKeys.TRAIN
        wanted = {"caller": fetches, "hooks": request.asked}
        if training:
            wanted["global_step"] = self._program.step_after
        results, metadata = self._run(wanted, request.feeds, request.options)
        if training:
            context.global_step = int(results["global_step"])
            context.loss_value = results["caller"][1]
        self._hooks.after_run(context, request, results["hooks"], metadata)
        # Only a step that all hooks saw through counts: a lost session repeats it.
        self._global_step = context.global_step
        self._stop_requested = self._stop_requested or context.stop_requested
        return results["caller"]

    def _run(self, wanted: Any, feeds: Any, options: Any) -> tuple[Any, Any]:
        metadata = tf.compat.v1.RunMetadata()
        if options is not None:
            return self._session.run(wanted, feeds, options, metadata), metadata
        if self._calls is None:
            raise RuntimeError("A step was asked for before the session was started.")
        return self._calls.run(wanted, feeds), metadata

    def _close_session(self) -> None:
        session, self._session, self._calls = self._session, None, None
        if session is None:
            return
        if self._coordinator is not None:
            self._coordinator.request_stop()
        session.close()
        if self._queue_threads:
            self._coordinator.join(self._queue_threads, stop_grace_period_secs=10, ignore_live_threads=True)
            self._queue_threads = []
