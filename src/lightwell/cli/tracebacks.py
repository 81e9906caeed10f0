"""Removes the frames of `cli` and `compat` from a traceback, so that it shows the program's lines.

Frames of the engine stay: they show where in training or evaluation the program was.
"""

from __future__ import annotations

import os
import runpy
from types import TracebackType

from lightwell.base import package

_HIDDEN = (
    os.path.join(package.FOLDER, "__main__.py"),
    os.path.join(package.FOLDER, "tf1.py"),
    os.path.join(package.FOLDER, "base", "lazy.py"),
    os.path.join(package.FOLDER, "base", "public_names.py"),
    *(os.path.join(package.FOLDER, part, "") for part in ("cli", "compat")),
    runpy.__file__,
    "<frozen runpy>",
    "<frozen importlib",
)
# Programs call this code in place of TensorFlow's, so its frames are useful.
_SHOWN = os.path.join(package.FOLDER, "compat", "contrib", "")


def hide_frames(error: BaseException) -> None:
    """Remove our frames from an exception's traceback, and from those it was raised from."""
    queue, seen = [error], set[int]()
    while queue:
        current = queue.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        current.__traceback__ = _without_ours(current.__traceback__)
        queue += [linked for linked in (current.__cause__, current.__context__) if linked is not None]


def _without_ours(trace: TracebackType | None) -> TracebackType | None:
    frames: list[TracebackType] = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    shown = [frame for frame in frames if not _is_hidden(frame.tb_frame.f_code.co_filename)]
    following: TracebackType | None = None
    for frame in reversed(shown):
        frame.tb_next = following
        following = frame
    return following


def _is_hidden(file: str) -> bool:
    return file.startswith(_HIDDEN) and not file.startswith(_SHOWN)
