"""A session with hooks around it: TensorFlow's `MonitoredSession` contract, driven by us.

Owns the life of a run: `begin` of the hooks, the final graph, the session, the steps, the way out. A session that is
lost (`AbortedError`, `UnavailableError`: a machine of the cluster went away) is opened again and the hooks told.

Nothing stays entered between two calls: the graph is the default one while hooks and the session run, and only then, so
that a generator can hand control back to the user's eager code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.engine.calls import CachedCalls
from lightwell.engine.program import Program
from lightwell.engine.session import SessionPlan, finish_graph, open_session
from lightwell.engine.step_errors import explained_step_error
from lightwell.hooks.base import SessionRunArgs
from lightwell.hooks.chain import HookChain
from lightwell.hooks.context import ModelView, RunContext
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

    Attributes:
        restored: the checkpoint that the open session's weights are of; None for initial ones.
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
        self.restored: str | None = None

    @property
    def session(self) -> Any:
        """The open `tf.compat.v1.Session`, or None."""
        return self._session

    @property
    def should_stop(self) -> bool:
        """Whether a hook asked to stop, or the input's threads ended."""
        return self._stop_requested or (self._coordinator is not None and self._coordinator.should_stop())

    def start(self) -> None:
        """Lets the hooks begin, makes the graph final and opens the session."""
        with self._program.graph.as_default():
            self._hooks.begin()
            self._complete_graph()
            finish_graph(self._program)
            self._open()

    def step(self, fetches: Any) -> Any:
        """Runs one step with all hooks around it; on a lost session, opens a new one and tries again."""
        with self._program.graph.as_default():
            return self._insisting(lambda: self._step(fetches))

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

    def _complete_graph(self) -> None:
        """The hooks have begun; the last moment to add to the graph."""

    def _session_opened(self) -> None:
        """A session is open and initialised; the hooks do not know yet."""

    def _insisting(self, act: Callable[[], Any]) -> Any:
        """Does `act`; again in a new session as long as the session is lost."""
        while True:
            try:
                return act()
            except LOST_SESSION as error:
                logger.info(_LOST, "", error)
                self._close_session()
                self._open()

    def _open(self) -> None:
        while True:
            try:
                self.restored = None
                self._session = open_session(self._program, self._plan, restored=self._was_restored)
                self._calls = CachedCalls(self._session)
                self._start_queues()
                self._session_opened()
                self._hooks.after_create_session(self._session, self._coordinator)
            except LOST_SESSION as error:
                logger.info(_LOST, " while a session was being created", error)
                self._close_session()
            except BaseException:
                self._close_session()
                raise
            else:
                return

    def _was_restored(self, checkpoint: str) -> None:
        self.restored = checkpoint

    def _start_queues(self) -> None:
        self._coordinator = tf.train.Coordinator(clean_stop_exception_types=END_OF_INPUT)
        if self._program.graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS):
            self._queue_threads = tf.compat.v1.train.start_queue_runners(self._session, coord=self._coordinator)

    def _step(self, fetches: Any) -> Any:
        context = RunContext(SessionRunArgs(fetches), self._session, self._view, None)
        request = self._hooks.before_run(context)
        results, metadata = self._run({"caller": fetches, "hooks": request.asked}, request.feeds, request.options)
        self._hooks.after_run(context, request, results["hooks"], metadata)
        self._stop_requested = self._stop_requested or context.stop_requested
        return results["caller"]

    def _run(self, wanted: Any, feeds: Any, options: Any) -> tuple[Any, Any]:
        metadata = tf.compat.v1.RunMetadata()
        if self._calls is None:
            raise RuntimeError("A step was asked for before the session was started.")
        try:
            return self._calls.run(wanted, feeds, options, metadata), metadata
        except tf.errors.OpError as error:
            raise explained_step_error(error, self._program) from None

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
