"""A pool of memory for large arrays: a call that copies the same array as the one before reuses its memory.

The system clears new memory page by page, which takes longer than to copy into it, and ten times as long on a virtual
machine or where memory is scarce. So memory that a copy no longer needs stays in the pool for the next one.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_SMALL = 2**20  # bytes; below, the allocator reuses memory by itself
_POOL_LIMIT = 2**29  # bytes; `Estimator.close` releases all of it
_MOST_WASTE = 1.25  # memory larger than needed by up to this factor is reused


class _Block:
    """Memory in use: it returns to the pool once no array refers to it any more, neither here nor in TensorFlow."""

    def __init__(self, memory: Array) -> None:
        self._memory = memory
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        _pool.append(_FreeBlock(self._memory))
        _drop_surplus()


class _FreeBlock:
    """Memory in the pool. Compared by identity, not by content."""

    def __init__(self, memory: Array) -> None:
        self.memory = memory


# Any thread may drop the last reference to memory at any moment, so a lock could deadlock. Each operation on a deque is
# atomic.
_pool: deque[_FreeBlock] = deque()


def memory_of(size: int) -> Array:
    """At least `size` bytes, uninitialised."""
    if not _SMALL <= size <= _POOL_LIMIT:
        return np.empty(size, np.uint8)
    for one in tuple(_pool):
        if size <= one.memory.nbytes <= size * _MOST_WASTE and _take(one):
            return np.asarray(_Block(one.memory))
    return np.asarray(_Block(np.empty(size, np.uint8)))


def release_memory() -> None:
    """Releases all memory in the pool to the system."""
    _pool.clear()


def _take(one: _FreeBlock) -> bool:
    try:
        _pool.remove(one)
    except (ValueError, RuntimeError):  # another thread took it, or changed the deque meanwhile
        return False
    return True


def _drop_surplus() -> None:
    """Releases the oldest memory beyond the limit."""
    try:
        while sum(one.memory.nbytes for one in tuple(_pool)) > _POOL_LIMIT:
            _pool.popleft()
    except (IndexError, RuntimeError):  # another thread is at it
        return
