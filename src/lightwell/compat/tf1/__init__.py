"""The namespace of TensorFlow 1.15, on today's TensorFlow: `from lightwell import tf1 as tf`.

Everything of `tf.compat.v1`, plus `tf.layers`, `tf.nn.rnn_cell`, `tf.estimator`, and the parts of `tf.contrib` that
exist. `tf.keras` is today's Keras, with the names and defaults of 1.15. A name that TensorFlow 1 never had is looked up
in today's `tf`. Names are looked up on first use, so importing this costs and changes nothing. Eager execution is up to
the program (`enable_tf1_behavior`, or `lightwell run`).
"""

from __future__ import annotations

import difflib
import importlib
import sys
from typing import Any

from lightwell.base.lazy import refuse, resolve
from lightwell.compat.retired.released_names import when
from lightwell.compat.tf1.private_modules import as_in_1
from lightwell.compat.tf1.tables import GONE as _GONE
from lightwell.compat.tf1.tables import OURS as _OURS

_NEVER = "neither today's nor that of TensorFlow 1.15"
_FROM_TENSORFLOW = frozenset({"__version__", "__git_version__", "__compiler_version__", "__cxx11_abi_flag__"})


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return [public for public in __dir__() if not public.startswith("_")]
    if name in _OURS:
        value = resolve(_OURS[name])
    elif name.startswith("__") and name not in _FROM_TENSORFLOW:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    else:
        value = _in_tensorflow(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    v1 = importlib.import_module("tensorflow").compat.v1
    return sorted({*_OURS, *_FROM_TENSORFLOW, *(name for name in dir(v1) if not name.startswith("_"))})


def _in_tensorflow(name: str) -> Any:
    tf = importlib.import_module("tensorflow")
    for module in (tf.compat.v1, tf):
        if hasattr(module, name):
            return getattr(module, name)
    if f"tensorflow.{name}" in sys.modules:  # `python`, `core`: packages that TensorFlow 2 hides from its namespace
        return as_in_1(f"tensorflow.{name}", sys.modules[f"tensorflow.{name}"])
    if name in _GONE:
        refuse(f"tf.{name} went with TensorFlow 1. {_GONE[name]}", __name__, name)
    near = difflib.get_close_matches(name, __dir__(), n=3)
    hint = f" Nearest names: {', '.join(near)}." if near else ""
    had = when(name)
    return refuse(
        f"module 'tensorflow' has no attribute {name!r} ({f'{had} had it' if had else _NEVER}).{hint}",
        __name__,
        name,
    )
