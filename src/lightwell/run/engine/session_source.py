"""`SessionSource`: where the session of a run comes from, and where it goes when the run ends.

- `ColdSource`: the run opens a session, or takes one of an equal program from the pool once its own graph is complete.
- `WarmSource`: the caller took a session from the pool, and runs the program of that session.
- `PinnedSource`: one program is run repeatedly, in a session that no other program may take.
"""

from __future__ import annotations

import abc

from lightwell.run.engine.program_key import ProgramKey
from lightwell.run.engine.session_pool import OpenSession, SessionPool
from lightwell.run.inputs.unpack import Inputs


class SessionSource(abc.ABC):
    """The session of a run.

    Attributes:
        session: the session to run in; None while there is none.
        key: the key of that session; None where it must be opened again for each run.
        vouched_key: where the user vouches for the model, the key of the program that is built now.
        inputs: the input of the coming run; None for the program's own.
        can_reuse: whether a session may outlive the run.
        closes_hooks: whether hooks are closed at the end of the run.
    """

    session: OpenSession | None = None
    key: ProgramKey | None = None
    vouched_key: ProgramKey | None = None
    inputs: Inputs | None = None
    can_reuse = True
    closes_hooks = True

    def find(self, key: ProgramKey) -> OpenSession | None:
        """An open session of an equal program."""
        return None

    @abc.abstractmethod
    def store(self, session: OpenSession, key: ProgramKey) -> None:
        """Stores a session that another run may use."""

    def discard(self, session: OpenSession) -> None:
        """Disposes of a closed session that no other run may use."""
        session.free()


class ColdSource(SessionSource):
    """A run that starts without a session.

    Args:
        pool: where sessions wait for reuse; None opens a new one for each run.
        vouched_key: where the user vouches for the model, the key to store the session under; None computes one from
            the complete graph.
    """

    def __init__(self, pool: SessionPool | None = None, vouched_key: ProgramKey | None = None) -> None:
        self._pool, self._generation = pool, 0 if pool is None else pool.generation
        self.can_reuse = pool is not None
        self.vouched_key = vouched_key

    def find(self, key: ProgramKey) -> OpenSession | None:
        return None if self._pool is None or self.vouched_key is not None else self._pool.take(key)

    def store(self, session: OpenSession, key: ProgramKey) -> None:
        if self._pool is not None:
            self._pool.store(key, session, self._generation)


class WarmSource(SessionSource):
    """A run in a session from the pool.

    Args:
        pool: where the session comes from and goes back to.
        key: its key.
        session: the session.
        inputs: the input of the coming run, of a graph equal to that of the session.
    """

    def __init__(self, pool: SessionPool, key: ProgramKey, session: OpenSession, inputs: Inputs) -> None:
        self._pool, self._generation = pool, pool.generation
        self.session, self.key, self.inputs = session, key, inputs

    def store(self, session: OpenSession, key: ProgramKey) -> None:
        self._pool.store(key, session, self._generation)


class PinnedSource(SessionSource):
    """The session of a program that is run repeatedly. Where only a new one is fresh, it is opened again for each run;
    the graph with its loop stays, and so do the arrays of its input."""

    closes_hooks = False

    def store(self, session: OpenSession, key: ProgramKey) -> None:
        self.session, self.key = session, key

    def discard(self, session: OpenSession) -> None:
        self.session, self.key = session, None

    def close(self) -> None:
        """Frees the session."""
        if self.session is not None:
            self.session.free()
        self.session = self.key = None
