"""A held session: open once, called often, from many threads; its weights can be renewed under way.

Owns the session of a predictor. A renewal opens a second session and lets the calls that are under way finish on the
first.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.engine.calls import Calls
from lightwell.engine.fetches import Fetches
from lightwell.engine.program import Program
from lightwell.engine.session import SessionPlan, finish_graph, open_session
from lightwell.engine.sessions import version_of
from lightwell.errors import UsageError
from lightwell.failures.step import explained_step_error


class _Open:
    """One open session and who is using it."""

    def __init__(self, session: Any, version: Any) -> None:
        self.session = session
        self.version = version
        self.calls = Calls(session)
        self.users = 0
        self.retired = False


class HeldSession:
    """Runs fetches of one program, with fed inputs, in a session that stays open."""

    def __init__(self, program: Program, plan: SessionPlan) -> None:
        self._program = program
        self._plan = plan
        self._lock = threading.Lock()
        self._renewing = threading.Lock()
        with program.graph.as_default():
            finish_graph(program)
        self._current: _Open | None = self._opened()

    def run(self, fetches: Fetches, fed: Sequence[Any], values: Sequence[Any]) -> Any:
        """Runs `fetches` with `values` fed to `fed`, the same tensors each time."""
        used = self._enter()
        try:
            return fetches.read(used.calls.run(fetches.elements, fed, values))
        except tf.errors.OpError as error:
            raise explained_step_error(error, self._program) from None
        finally:
            self._leave(used)

    def renew(self) -> bool:
        """Opens a session with the weights that are newest now, if they are others, and closes the old one once nobody
        uses it; says whether it did."""
        with self._renewing:
            if self._current is not None and self._current.version == version_of(self._plan.find_checkpoint()):
                return False
            fresh = self._opened()
            with self._lock:
                old, self._current = self._current, fresh
            self._retire(old)
            return True

    def close(self) -> None:
        """Closes the session once the calls under way are done; closing again does nothing."""
        with self._lock:
            old, self._current = self._current, None
        self._retire(old)

    def _opened(self) -> _Open:
        version = version_of(self._plan.find_checkpoint())
        with self._program.graph.as_default():
            return _Open(open_session(self._program, self._plan), version)

    def _enter(self) -> _Open:
        with self._lock:
            if self._current is None:
                raise UsageError("This predictor is closed. Open another with est.predictor().")
            self._current.users += 1
            return self._current

    def _leave(self, used: _Open) -> None:
        with self._lock:
            used.users -= 1
            is_idle = used.retired and not used.users
        if is_idle:
            used.session.close()

    def _retire(self, old: _Open | None) -> None:
        if old is None:
            return
        with self._lock:
            old.retired = True
            is_idle = not old.users
        if is_idle:
            old.session.close()
