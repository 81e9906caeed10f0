"""A held session: open once, called often, from many threads; its weights can be renewed under way.

Owns the sessions of a predictor. A renewal opens another one, and lets the calls that are under way finish on the old.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.checkpoints.restore import version_of
from lightwell.engine.fetches import Fetches
from lightwell.engine.program import Program
from lightwell.engine.session import SessionPlan, finish_graph
from lightwell.engine.sessions import Opened
from lightwell.errors import UsageError
from lightwell.failures.step import explained_step_error


class HeldSession:
    """Runs fetches of one program, with fed inputs, in a session that stays open."""

    def __init__(self, program: Program, plan: SessionPlan) -> None:
        self._program = program
        self._plan = plan
        self._lock = threading.Lock()
        self._renewing = threading.Lock()
        self._users: Counter[Opened] = Counter()  # calls under way
        with program.graph.as_default():
            finish_graph(program)
        self._current: Opened | None = self._opened()

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
            self._let_go(used, by=1)

    def check_open(self) -> Opened:
        """The session.

        Raises:
            UsageError: it is closed.
        """
        if self._current is None:
            raise UsageError("This predictor is closed. Open another with est.predictor().")
        return self._current

    def renew(self) -> bool:
        """Opens a session with the weights that are newest now, if they are others; says whether it did.

        Raises:
            UsageError: it is closed.
        """
        with self._renewing:
            if self.check_open().version == version_of(self._plan.find_checkpoint()):
                return False
            opened = self._opened()
            with self._lock:
                old, is_closed = self._current, self._current is None
                self._current = None if is_closed else opened
            self._let_go(opened if old is None else old)
            self.check_open()
            return True

    def close(self) -> None:
        """Closes the session once the calls under way are done; closing again does nothing."""
        self._put(None)

    def _opened(self) -> Opened:
        opened = Opened(self._program, None)
        with self._program.graph.as_default():
            opened.start(self._plan, self._program.inputs)
        return opened

    def _put(self, opened: Opened | None) -> None:
        with self._lock:
            old, self._current = self._current, opened
        if old is not None:
            self._let_go(old)

    def _let_go(self, used: Opened, by: int = 0) -> None:
        """So many calls are done with a session; one that is not the present one is closed with its last."""
        with self._lock:
            self._users[used] -= by
            is_idle = used is not self._current and not self._users[used]
        if is_idle:
            used.close()
