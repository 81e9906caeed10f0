"""Takes the frames of the doors out of a traceback, so that it shows the program's own lines.

Frames of the engine stay: they say where in training or evaluation the program was.
"""

from __future__ import annotations

import os
import runpy
from types import TracebackType

import lightwell

_HERE = os.path.dirname(lightwell.__file__)
_HIDDEN = (
    os.path.join(_HERE, "__main__.py"),
    os.path.join(_HERE, "_lazy.py"),
    os.path.join(_HERE, "_names.py"),
    *(os.path.join(_HERE, part, "") for part in ("cli", "compat", "tf1")),
    runpy.__file__,
    "<frozen runpy>",
    "<frozen importlib",
)


def hide_doors(error: BaseException) -> None:
    """Remove our frames from an exception's traceback, and from those it was raised from."""
    waiting, seen = [error], set[int]()
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        current.__traceback__ = _without_ours(current.__traceback__)
        waiting += [linked for linked in (current.__cause__, current.__context__) if linked is not None]


def _without_ours(trace: TracebackType | None) -> TracebackType | None:
    frames: list[TracebackType] = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    kept = [frame for frame in frames if not frame.tb_frame.f_code.co_filename.startswith(_HIDDEN)]
    following: TracebackType | None = None
    for frame in reversed(kept):
        frame.tb_next = following
        following = frame
    return following
