"""Private modules of TensorFlow as a TensorFlow 1 program sees them: some of their names mean what they meant then.

`as_in_1` wraps a module that the table `PRIVATE` names, and the packages above it, so that every spelling of an import
leads to the wrapped one. TensorFlow's own modules are not changed.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from lightwell.base.lazy import resolve
from lightwell.compat.tf1.keras import page_of_import
from lightwell.compat.tf1.tables import PRIVATE
from lightwell.foreign.moved_modules import MOVED, moved_to

_ON_THE_WAY = frozenset(
    name.rsplit(".", depth)[0] for name in (*PRIVATE, *MOVED) for depth in range(name.count("."))
)  # the modules of the table and the packages above them


def as_in_1(name: str, module: Any) -> Any:
    """The module `name` for a program of TensorFlow 1: `module`, or a wrapper of it."""
    return _ModuleAsIn1(name, module) if name in _ON_THE_WAY else module


class _ModuleAsIn1(ModuleType):
    """A private module of TensorFlow, with some of its names as they were in TensorFlow 1."""

    def __init__(self, name: str, module: Any) -> None:
        super().__init__(name, module.__doc__)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return self.__dir__()
        if (self.__name__, name) == ("tensorflow.python", "keras"):
            return page_of_import(("python", "keras"))
        target = PRIVATE.get(self.__name__, {}).get(name)
        if target is not None:
            return resolve(target)
        moved = moved_to(f"{self.__name__}.{name}")
        value = getattr(self._module, name) if moved is None else importlib.import_module(moved)
        return as_in_1(f"{self.__name__}.{name}", value)

    def __dir__(self) -> list[str]:
        listed = getattr(self._module, "__all__", None)
        return list(listed) if listed is not None else [name for name in dir(self._module) if not name.startswith("_")]
