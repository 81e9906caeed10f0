"""How many steps one call may run: so many as keep a call short, because a call cannot be interrupted, and what it
keeps of its steps small."""

from __future__ import annotations

from typing import Any

_SECONDS_PER_CALL = 0.25
_SECONDS_OF_THE_FIRST = 0.01  # of each run: somebody may want the first rows only
_BYTES_PER_CALL = 2**22
_MOST_GROWTH = 16


class Pace:
    """Learns how long a step of a session takes, from run to run, and says how many steps fit into a call.

    Args:
        fuse_steps: `RunConfig.fuse_steps`; a number is the most that a call may run.
    """

    def __init__(self, fuse_steps: Any = "auto") -> None:
        self._most = fuse_steps if isinstance(fuse_steps, int) and fuse_steps else None
        self._seconds_per_step: float | None = None
        self._bytes_per_step = 0.0
        self._longest = 1
        self._is_first = True
        self._begins = True

    def begin(self, is_new: bool) -> None:
        """Takes in that a run begins, in a new session or in one that has been used."""
        self._begins = True
        self._is_first = is_new

    def steps(self, seconds_left: float) -> int:
        """How many steps to run in the next call, when somebody waits for its end in `seconds_left`."""
        if self._seconds_per_step is None:
            return 1
        seconds = min(_SECONDS_OF_THE_FIRST if self._begins else _SECONDS_PER_CALL, max(seconds_left, 0.0))
        fitting = int(min(seconds / max(self._seconds_per_step, 1e-9), _BYTES_PER_CALL / max(self._bytes_per_step, 1)))
        # One step tells little: caches are cold, threads start. Its measure is not trusted far.
        fitting = max(1, min(fitting, self._longest * _MOST_GROWTH))
        return fitting if self._most is None else min(fitting, self._most)

    def took(self, steps: int, seconds: float, kept_bytes: int = 0, *, is_last: bool = False) -> None:
        """Takes in how long a call took, and how much it kept; the last of a run took longer, to come to its end."""
        if steps < 1:
            return
        self._begins = False
        self._bytes_per_step = kept_bytes / steps
        if self._is_first:  # it prepared the session, which says nothing about steps
            self._is_first = False
            return
        now = seconds / steps
        before = self._seconds_per_step
        if is_last and before is not None:
            return
        # Slower counts at once, faster only by and by: a call that is too long is worse than one that is too short.
        self._seconds_per_step = now if before is None or now > before else (now + before) / 2
        self._longest = max(self._longest, steps)
