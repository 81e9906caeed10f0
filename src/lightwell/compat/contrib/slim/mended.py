"""Repairs the package `tf_slim` for today's TensorFlow.

Owns `imported`, by which the pages of `tf.contrib` load it, and `mend`, for a program that imports it by itself. Its
modules look for names in private modules of TensorFlow that have moved, and its batch normalization needs Keras 2; both
are put right inside that package, and nowhere else.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import tensorflow as tf

from lightwell.base.lazy import resolve

_PACKAGE = "tf_slim"
_MARK = "_mended_by_lightwell"
_V1 = tf.compat.v1
# A namespace of tf.contrib -> the modules that have its functions.
_HOMES = {
    "slim": (_PACKAGE, f"{_PACKAGE}.layers", f"{_PACKAGE}.ops.arg_scope"),
    "losses": (f"{_PACKAGE}.losses",),
    "metrics": (f"{_PACKAGE}.metrics",),
}
# A module of TensorFlow -> the names that it had, and that are elsewhere now.
_MOVED: Mapping[str, Mapping[str, Any]] = {
    "tensorflow.python.ops.array_ops": {"stack": tf.stack, "unstack": tf.unstack},
    "tensorflow.python.ops.control_flow_ops": {
        "Assert": _V1.Assert,
        "case": _V1.case,
        "cond": _V1.cond,
        "while_loop": _V1.while_loop,
    },
    "tensorflow.python.framework.ops": {"IndexedSlices": tf.IndexedSlices, "Tensor": tf.Tensor},
    "tensorflow.python.ops.variable_scope": {"variable": _V1.Variable},
}


class _Completed(ModuleType):
    """A module with names that it had once."""

    def __init__(self, module: ModuleType, more: Mapping[str, Any]) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__dict__.update(_module=module, _more=more)

    def __getattr__(self, name: str) -> Any:
        if hasattr(self._module, name) or name not in self._more:
            return getattr(self._module, name)
        return self._more[name]


def imported(name: str, ours: Mapping[str, Mapping[str, str]]) -> Any:
    """Import the module `name`; repair it if it belongs to `tf_slim`.

    Args:
        name: a module.
        ours: for each namespace of `_HOMES`, the names of functions that we have, and the targets where they are.
    """
    module = importlib.import_module(name)
    if name.partition(".")[0] == _PACKAGE:
        mend(ours)
    return module


def mend(ours: Mapping[str, Mapping[str, str]], write: Callable[[Any, str, Any], None] = setattr) -> None:
    """Repairs the loaded modules of `tf_slim` that are not repaired yet.

    Args:
        ours: as in `imported`.
        write: sets an attribute of a module.
    """
    new = [
        module
        for name, module in sys.modules.copy().items()
        if name.partition(".")[0] == _PACKAGE and module is not None and _MARK not in vars(module)
    ]
    if not new:
        return
    replaced = _replacements(ours)
    for module in new:
        for name, value in list(vars(module).items()):
            if id(value) in replaced:
                write(module, name, replaced[id(value)])
            elif isinstance(value, ModuleType) and value.__name__ in _MOVED and not isinstance(value, _Completed):
                write(module, name, _Completed(value, _MOVED[value.__name__]))
        write(module, _MARK, True)


def _replacements(ours: Mapping[str, Mapping[str, str]]) -> dict[int, Any]:
    """The functions of the package that we have too, by their identity."""
    found: dict[int, Any] = {}
    for namespace, homes in _HOMES.items():
        for home in homes:
            names = vars(sys.modules[home]) if home in sys.modules else {}
            for name, target in ours[namespace].items():
                if name in names and not isinstance(names[name], ModuleType):
                    found[id(names[name])] = resolve(target)
    return found
