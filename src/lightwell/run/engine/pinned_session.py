"""The pinned session of a predictor: opened once, called from many threads, with weights that can be renewed.

A renewal opens another session; calls in progress finish on the old one.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.run.checkpoints.restore import version_of
from lightwell.run.engine.fetches import Fetches
from lightwell.run.engine.program import Program
from lightwell.run.engine.session import SessionPlan, finish_graph
from lightwell.run.engine.session_pool import OpenSession
from lightwell.run.failures.step import explained_step_error


class PinnedSession:
    """Runs fetches of one program, with fed inputs, in a session that stays open."""

    def __init__(self, program: Program, plan: SessionPlan) -> None:
        self._program = program
        self._plan = plan
        self._lock = threading.Lock()
        self._renewing = threading.Lock()
        self._users: Counter[OpenSession] = Counter()  # calls in progress
        with program.graph.as_default():
            finish_graph(program)
        self._current: OpenSession | None = self._open()

    def run(self, fetches: Fetches, fed: Sequence[Any], values: Sequence[Any]) -> Any:
        """Runs `fetches` with `values` fed to `fed`, the same tensors each time."""
        with self._lock:
            used = self.check_open()
            self._users[used] += 1
        try:
            return fetches.read(used.calls.run(fetches.elements, fed, values))
        except tf.errors.OpError as error:
            raise explained_step_error(error, self._program) from None
        finally:
            self._release(used, ended=1)

    def check_open(self) -> OpenSession:
        """The session.

        Raises:
            UsageError: it is closed.
        """
        if self._current is None:
            raise UsageError("This predictor is closed. Open another with est.predictor().")
        return self._current

    def renew(self) -> bool:
        """Opens a session with the newest weights, if they changed; returns whether it did.

        Raises:
            UsageError: it is closed.
        """
        with self._renewing:
            if self.check_open().version == version_of(self._plan.find_checkpoint()):
                return False
            opened = self._open()
            with self._lock:
                old, is_closed = self._current, self._current is None
                self._current = None if is_closed else opened
            self._release(opened if old is None else old)
            self.check_open()
            return True

    def close(self) -> None:
        """Closes the session once the calls in progress have ended; closing again does nothing."""
        self._put(None)

    def _open(self) -> OpenSession:
        opened = OpenSession(self._program, None)
        with self._program.graph.as_default():
            opened.start(self._plan, self._program.inputs)
        return opened

    def _put(self, opened: OpenSession | None) -> None:
        with self._lock:
            old, self._current = self._current, opened
        if old is not None:
            self._release(old)

    def _release(self, used: OpenSession, ended: int = 0) -> None:
        """Counts calls that have ended; closes a session that is no longer current with its last call."""
        with self._lock:
            self._users[used] -= ended
            is_idle = used is not self._current and not self._users[used]
        if is_idle:
            used.close()
