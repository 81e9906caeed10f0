"""`Pace`: how many steps one call may run. A call cannot be interrupted, so it is short, and its outputs are small."""

from __future__ import annotations

from typing import Any

_SECONDS_PER_CALL = 0.25
_SECONDS_OF_THE_FIRST = 0.01  # of each run: the caller may need the first rows only
_BYTES_PER_CALL = 2**22
_MOST_GROWTH = 16


class Pace:
    """Measures the steps of a session, over all runs, and says how many fit into a call.

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
        """Starts a run, in a new session or in a used one."""
        self._begins = True
        self._is_first = is_new

    def steps(self, seconds_left: float) -> int:
        """How many steps to run in the next call, which a hook waits for in `seconds_left`."""
        if self._seconds_per_step is None:
            return 1
        seconds = min(_SECONDS_OF_THE_FIRST if self._begins else _SECONDS_PER_CALL, max(seconds_left, 0.0))
        fitting = int(min(seconds / max(self._seconds_per_step, 1e-9), _BYTES_PER_CALL / max(self._bytes_per_step, 1)))
        # One step is a poor measure: caches are cold, threads start.
        fitting = max(1, min(fitting, self._longest * _MOST_GROWTH))
        return fitting if self._most is None else min(fitting, self._most)

    def record_duration(self, steps: int, seconds: float, output_bytes: int = 0, *, is_last: bool = False) -> None:
        """Records a call, and the size of its outputs. The last of a run takes longer, as it reaches the end."""
        if steps < 1:
            return
        self._begins = False
        self._bytes_per_step = output_bytes / steps
        if self._is_first:  # it includes the preparation of the session
            self._is_first = False
            return
        now = seconds / steps
        before = self._seconds_per_step
        if is_last and before is not None:
            return
        # Slower counts at once, faster by half: a call that is too long is worse than one that is too short.
        self._seconds_per_step = now if before is None or now > before else (now + before) / 2
        self._longest = max(self._longest, steps)
