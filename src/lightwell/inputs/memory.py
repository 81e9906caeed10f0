"""Memory for big arrays, used again: a call that copies the same array as the one before writes where that one wrote.

New memory has to be found and cleared by the system, page by page, which takes longer than to copy into it, and where
memory is scarce or the machine a virtual one, ten times as long. So what a copy no longer needs is not given back at
once: some of it waits for the next one. Owns that memory; gives arrays of bytes.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_SMALL = 2**20  # below, the allocator keeps memory by itself
_MOST_WAITING = 2**29  # bytes; `Estimator.close` gives all of it back
_MOST_WASTE = 1.25  # times; memory that is so much too big serves


class _Lent:
    """Memory in use: it waits for the next use once no array refers to it any more, neither here nor in TensorFlow."""

    def __init__(self, memory: Array) -> None:
        self._memory = memory
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        _waiting.append(_Waiting(self._memory))
        _drop_surplus()


class _Waiting:
    """Memory that nobody uses. Told from other such by what it is, not by what it holds."""

    def __init__(self, memory: Array) -> None:
        self.memory = memory


# Memory is given back by whatever thread lets go of it last, at any moment: no lock could be held. Each operation on
# a deque is whole by itself.
_waiting: deque[_Waiting] = deque()


def memory_of(size: int) -> Array:
    """So many bytes or some more; what is in them is not said."""
    if not _SMALL <= size <= _MOST_WAITING:
        return np.empty(size, np.uint8)
    for one in tuple(_waiting):
        if size <= one.memory.nbytes <= size * _MOST_WASTE and _is_taken(one):
            return np.asarray(_Lent(one.memory))
    return np.asarray(_Lent(np.empty(size, np.uint8)))


def give_back() -> None:
    """Gives the memory that waits to the system."""
    _waiting.clear()


def _is_taken(one: _Waiting) -> bool:
    try:
        _waiting.remove(one)
    except (ValueError, RuntimeError):  # another thread has taken it, or changed the deque meanwhile
        return False
    return True


def _drop_surplus() -> None:
    """Gives back what has waited longest, beyond the limit."""
    try:
        while sum(one.memory.nbytes for one in tuple(_waiting)) > _MOST_WAITING:
            _waiting.popleft()
    except (IndexError, RuntimeError):  # another thread is at it
        return
