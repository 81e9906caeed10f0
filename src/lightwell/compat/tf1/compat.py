"""`tf.compat` of TensorFlow 1.15: `v1` is this namespace again, `v2` is today's `tf`, the helpers are TensorFlow's."""

from __future__ import annotations

import importlib
from typing import Any

_OURS = {"v1": "lightwell.tf1", "v2": "tensorflow"}


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    if name in _OURS:
        value = importlib.import_module(_OURS[name])
    else:
        value = getattr(importlib.import_module("tensorflow").compat.v1.compat, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    v1 = importlib.import_module("tensorflow").compat.v1
    return sorted({*_OURS, *(name for name in dir(v1.compat) if not name.startswith("_"))})
