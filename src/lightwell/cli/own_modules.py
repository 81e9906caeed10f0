"""The import hook that gives the program's own modules the TensorFlow they mean.

Owns a finder that answers for the program's source files only, and the `__import__` that TensorFlow 1 modules get.
Installed packages never pass through here.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

from lightwell.cli.program import Program
from lightwell.tf1.spelling import Version


class OwnModules(MetaPathFinder):
    """Finds the program's own modules."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or spec.origin is None:
            return None
        if not self._program.owns(spec.origin):
            return None
        spec.loader = OwnLoader(fullname, spec.origin, self._program)
        return spec


class OwnLoader(SourceFileLoader):
    """Loads one of the program's modules. The code is compiled and cached as ever; only its `__import__` may differ."""

    def __init__(self, fullname: str, path: str, program: Program) -> None:
        super().__init__(fullname, path)
        self._program = program

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        # Here and not in exec_module, which would leave a frame of ours in the program's tracebacks.
        if self._program.version_of(self.path) is not Version.TF1:
            return None
        module = ModuleType(spec.name)
        vars(module)["__builtins__"] = vars(tf1_builtins())
        return module


@functools.cache
def tf1_builtins() -> ModuleType:
    """Python's builtins with an `__import__` for which `tensorflow` is TensorFlow 1."""
    copy = ModuleType("builtins", builtins.__doc__)
    vars(copy).update(vars(builtins))
    vars(copy)["__import__"] = _import
    return copy


def _import(
    name: str,
    globals: dict[str, Any] | None = None,
    locals: dict[str, Any] | None = None,
    fromlist: Sequence[str] = (),
    level: int = 0,
) -> Any:
    if level == 0 and (name == "tensorflow" or name.startswith("tensorflow.")):
        from lightwell.tf1.importing import import_tensorflow  # loads TensorFlow: only now, when the program does

        return import_tensorflow(name, fromlist)
    return builtins.__import__(name, globals, locals, fromlist, level)
