"""Ctrl-C and SIGTERM during training: finish the step, save, exit.

The SIGTERM handler is set for the length of a `with` block, in the main thread only, as Python requires.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Terminated(BaseException):
    """SIGTERM arrived. Like `KeyboardInterrupt`, it is not caught by `except Exception`."""


@contextlib.contextmanager
def sigterm_raises() -> Iterator[None]:
    """Turns SIGTERM into `Terminated` inside the block, and restores the previous handler after it.

    A program that handles SIGTERM itself keeps its handler.
    """
    before = signal.getsignal(signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread() or before != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _raise_terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def sigterm_waits() -> Iterator[None]:
    """Delays SIGTERM inside `sigterm_raises`, for work that must complete, such as the last checkpoint."""
    if signal.getsignal(signal.SIGTERM) is not _raise_terminated:
        yield
        return
    arrived: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: arrived.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, _raise_terminated)
    if arrived:
        leave_by_sigterm()


def _raise_terminated(number: int, frame: FrameType | None) -> None:
    raise Terminated


def leave_by_sigterm() -> None:
    """Ends the process the way SIGTERM would have, now that the work is saved."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.raise_signal(signal.SIGTERM)
