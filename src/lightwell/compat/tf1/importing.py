"""`import tensorflow...` for programs of TensorFlow 1.

`import_tensorflow` replaces `builtins.__import__` for modules of a program under `lightwell run`.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from typing import Any

from lightwell.compat.tf1.behavior import enable_tf1_behavior
from lightwell.compat.tf1.contrib import import_below
from lightwell.compat.tf1.keras import page_of_import
from lightwell.compat.tf1.private_modules import as_in_1
from lightwell.compat.tf1.spelling_names import PACKAGES_ONLY_IN_1
from lightwell.compat.tf1.tables import PRIVATE
from lightwell.foreign.moved_modules import moved_to

# Real packages: the import system must load them, they are not only attributes.
_REAL = frozenset({"python", "core", "compiler", "tools", "lite", "tsl"})


def import_tensorflow(name: str, fromlist: Sequence[str] | None = None) -> Any:
    """The result of `import <name>` (no from-list: the top) or `from <name> import ...`, for names of tensorflow."""
    enable_tf1_behavior()
    tf1 = importlib.import_module("lightwell.tf1")
    path = name.split(".")[1:]
    keras = _of_keras(name, path)
    if keras is not None:
        return keras if fromlist else tf1
    module = (
        importlib.import_module(moved_to(name) or name)
        if path and path[0] in _REAL
        else _walk(tf1, name, path, fromlist or ())
    )
    if not fromlist:
        return tf1
    if path and path[0] in _REAL:
        for child in fromlist:
            _load_child(module, name, child)
    return as_in_1(name, module)


def _of_keras(name: str, path: Sequence[str]) -> Any:
    try:
        return page_of_import(path)
    except AttributeError as error:
        raise ModuleNotFoundError(str(error), name=name) from None


def _walk(tf1: Any, name: str, path: Sequence[str], fromlist: Sequence[str]) -> Any:
    try:
        if path[:1] == ["contrib"] and len(path) > 1:
            return import_below(path[1], path[2:], fromlist)
        return functools.reduce(getattr, path, tf1)
    except AttributeError as error:
        text = str(error) if path[0] in PACKAGES_ONLY_IN_1 else f"No module named {name!r}"
        raise ModuleNotFoundError(text, name=name) from None


def _load_child(package: Any, name: str, child: str) -> None:
    """Load the module, if it is one, that `from <name> import <child>` imports."""
    if child in PRIVATE.get(name, {}):
        return
    moved = moved_to(f"{name}.{child}")
    if moved is not None:
        importlib.import_module(moved)
        return
    if child == "*" or hasattr(package, child) or not hasattr(package, "__path__"):
        return
    try:
        importlib.import_module(f"{name}.{child}")
    except ModuleNotFoundError as error:
        if error.name != f"{name}.{child}":
            raise
