"""A warm session: open once, called often, from many threads; its weights can be renewed under way.

Owns the session of a predictor. Fetches are prepared once per set; a renewal opens a second session and lets the calls
that are under way finish on the first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.engine.session import SessionPlan, finish_graph, open_session
from lightwell.engine.step_errors import explained_step_error
from lightwell.errors import UsageError

_MOST_CALLABLES = 64


class _Open:
    """One open session and who is using it."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.callables: dict[Any, Callable[..., Any]] = {}
        self.users = 0
        self.retired = False


class WarmSession:
    """Runs fetches of one program, with fed inputs, in a session that stays open."""

    def __init__(self, program: Program, plan: SessionPlan) -> None:
        self._program = program
        self._plan = plan
        self._lock = threading.Lock()
        with program.graph.as_default():
            finish_graph(program)
        self._current: _Open | None = _Open(self._opened())

    def run(self, key: Any, fetches: Any, feed_list: Sequence[Any], values: Sequence[Any]) -> Any:
        """Runs `fetches` with `values` fed to `feed_list`; the same `key` stands for the same fetches."""
        used = self._enter()
        try:
            call = used.callables.get(key)
            if call is None and len(used.callables) < _MOST_CALLABLES:
                call = self._prepare(used, key, fetches, feed_list)
            if call is None:
                return used.session.run(fetches, dict(zip(feed_list, values, strict=True)))
            return call(*values)
        except tf.errors.OpError as error:
            raise explained_step_error(error, self._program) from None
        finally:
            self._leave(used)

    def renew(self) -> None:
        """Opens a session with the weights that are newest now, and closes the old one once nobody uses it."""
        fresh = _Open(self._opened())
        with self._lock:
            old, self._current = self._current, fresh
        self._retire(old)

    def close(self) -> None:
        """Closes the session once the calls under way are done; closing again does nothing."""
        with self._lock:
            old, self._current = self._current, None
        self._retire(old)

    def _opened(self) -> Any:
        with self._program.graph.as_default():
            return open_session(self._program, self._plan)

    def _prepare(self, used: _Open, key: Any, fetches: Any, feed_list: Sequence[Any]) -> Callable[..., Any]:
        with self._lock:
            if key not in used.callables:
                with self._program.graph.as_default():
                    used.callables[key] = used.session.make_callable(fetches, feed_list=list(feed_list))
            return used.callables[key]

    def _enter(self) -> _Open:
        with self._lock:
            if self._current is None:
                raise UsageError("This predictor is closed. Open another with est.predictor().")
            self._current.users += 1
            return self._current

    def _leave(self, used: _Open) -> None:
        with self._lock:
            used.users -= 1
            close = used.retired and not used.users
        if close:
            _shut(used)

    def _retire(self, old: _Open | None) -> None:
        if old is None:
            return
        with self._lock:
            old.retired = True
            close = not old.users
        if close:
            _shut(old)


def _shut(used: _Open) -> None:
    used.callables.clear()
    used.session.close()
