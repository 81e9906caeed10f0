"""Whether the program itself calls: where Keras 2 had another default, only its calls get that one.

A package that is installed beside the program may be written for Keras 3, and keeps the numbers of Keras 3.
"""

from __future__ import annotations

import sys
from types import FrameType

from lightwell.foreign.patches import is_installed

_BETWEEN = frozenset(
    {"keras", "lightwell", "tensorflow", "functools", "contextlib", "importlib", "ml_dtypes", "optree"}
)
"""Packages between the program and the place that asks."""


def is_program_calling() -> bool:
    """Whether the innermost frame outside of Keras, TensorFlow and Lightwell belongs to the program."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _BETWEEN:
            return not is_installed(package)
        frame = frame.f_back
    return False
