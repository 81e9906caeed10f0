"""The cadence of a watch: every n steps, at listed steps, or every n seconds."""

from __future__ import annotations

import bisect
import math
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from lightwell.errors import UsageError
from lightwell.run.hooks.base import NEVER

_DEFAULT_EVERY = 100


class Cadence:
    """The steps that a watch looks at. Steps are numbered from 1.

    Args:
        name: of the watch, for errors.
        every: each step whose number is a multiple of this; 100 by default.
        at: these steps.
        every_secs: once in so many seconds, by the clock of `started`.

    Raises:
        UsageError: more than one is given, or one that makes no sense.
    """

    def __init__(self, name: str, every: Any, at: Any, every_secs: Any) -> None:
        arguments = {"every": every, "at": at, "every_secs": every_secs}
        chosen = [word for word, value in arguments.items() if value is not None]
        if len(chosen) > 1:
            raise UsageError(f"{name}: choose one cadence, got {' and '.join(chosen)}.")
        if every is not None and (not _is_whole(every) or every < 1):
            raise UsageError(f"{name}: every must be a whole number of at least 1, got {every!r}.")
        steps = list(at) if isinstance(at, Iterable) else [at]
        if at is not None and (not isinstance(at, Iterable) or not all(map(_is_whole, steps))):
            raise UsageError(f"{name}: at must be a list of step numbers, as in at=[1, 10, 100]; got {at!r}.")
        if every_secs is not None and (not _is_number(every_secs) or every_secs <= 0):
            raise UsageError(f"{name}: every_secs must be a number of more than 0, got {every_secs!r}.")
        self._every = int(every) if every is not None else _DEFAULT_EVERY if not chosen else None
        self._at = sorted(map(int, steps)) if at is not None else []
        self._every_secs = every_secs
        self._looked = -math.inf

    def started(self) -> None:
        """Starts the clock; called when a run begins, and at each look."""
        self._looked = time.perf_counter()

    @property
    def is_by_clock(self) -> bool:
        """Whether only the clock can tell when to look."""
        return self._every_secs is not None

    def next_look(self, step: int) -> int:
        """The first step after this one to look at; `NEVER` where there is none, or only the clock can tell."""
        if self._every is not None:
            return (step // self._every + 1) * self._every
        place = bisect.bisect_right(self._at, step)
        return self._at[place] if place < len(self._at) else NEVER

    def __str__(self) -> str:
        if self._every is not None:
            return f"every={self._every}"
        return f"every_secs={self._every_secs}" if self._every_secs is not None else f"at={self._at}"

    def seconds_left(self) -> float:
        """In how many seconds to look, whatever the step."""
        if self._every_secs is None:
            return math.inf
        return self._looked + self._every_secs - time.perf_counter()


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
