"""`tf.nn` of TensorFlow 1.15: `tf.compat.v1.nn`, with its cells (`tf.nn.rnn_cell`) back."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    if name == "rnn_cell":
        value = importlib.import_module("lightwell.rnn_cell")
    else:
        value = getattr(importlib.import_module("tensorflow").compat.v1.nn, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    v1 = importlib.import_module("tensorflow").compat.v1
    return sorted({"rnn_cell", *(name for name in dir(v1.nn) if not name.startswith("_"))})
