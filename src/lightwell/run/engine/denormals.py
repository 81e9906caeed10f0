"""The calling thread computes as TensorFlow's own threads do: numbers too small for full precision are zero.

TensorFlow switches its pool of threads to that mode, and leaves the thread that calls it as it is. So which thread runs
a step would decide whether the slow end of a decay is 1e-41 or 0. Steps run in the calling thread only where it can be
switched too, for the time of the call; elsewhere they always run in the pool.

The mode is a pair of bits of the processor, which the C library reads and writes with the rest of its floating-point
environment. Only the layout of glibc on x86-64 is known here, and whether it works is tested by a computation.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
import threading
from typing import Any

import numpy as np

_ENVIRONMENT = ctypes.c_uint32 * 8  # 28 bytes of the older unit, then the register of the newer one
_REGISTER = 7
_TO_ZERO = 1 << 15 | 1 << 6  # results that are too small, and arguments


class _Flushed(threading.local):
    """The mode of one thread. Its buffers are allocated once: a step may be as short as the call."""

    def __init__(self) -> None:
        library = _library()
        if library is None:
            raise RuntimeError("A step was to run in the calling thread, which cannot be switched to another mode.")
        self._before, self._switched = _ENVIRONMENT(), _ENVIRONMENT()
        self._get, self._set = library.fegetenv, library.fesetenv
        self._get(self._switched)
        self._switched[_REGISTER] |= _TO_ZERO
        self._depth = 0  # a step may call Python, which may run another step

    def __enter__(self) -> None:
        if not self._depth:
            self._get(self._before)
            self._set(self._switched)
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._set(self._before)


@functools.cache
def flushed() -> _Flushed:
    """Inside of a block with this, the calling thread takes numbers that are too small for zero."""
    return _Flushed()


@functools.cache
def can_be_flushed() -> bool:
    """Whether the calling thread can be switched to the mode, and back."""
    if _library() is None:
        return False
    tiny = np.full(4, 1e-39, np.float32)
    with flushed():
        is_zero = not (tiny * np.float32(1)).any()
    return is_zero and bool((tiny * np.float32(1)).all())


@functools.cache
def _library() -> Any:
    if sys.platform != "linux" or platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc":
        return None
    try:
        library = ctypes.PyDLL("libm.so.6")
    except OSError:
        return None
    return library if hasattr(library, "fegetenv") and hasattr(library, "fesetenv") else None
