"""The import hook that gives each module of a program its TensorFlow.

The finder answers for the program's source files only; TensorFlow 1 modules get another `__import__`. Installed
packages never pass through here.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

from lightwell.cli.user_program import UserProgram
from lightwell.compat.tf1.spelling import Version


class ProgramModuleFinder(MetaPathFinder):
    """Finds the modules of a program."""

    def __init__(self, program: UserProgram) -> None:
        self._program = program

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or spec.origin is None:
            return None
        if not self._program.owns(spec.origin):
            return None
        spec.loader = ProgramModuleLoader(fullname, spec.origin, self._program)
        return spec


class ProgramModuleLoader(SourceFileLoader):
    """Loads a module of a program. Its code is compiled and cached as usual; only its `__import__` may differ."""

    def __init__(self, fullname: str, path: str, program: UserProgram) -> None:
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
        from lightwell.compat.tf1.importing import (
            import_tensorflow,  # loads TensorFlow, as the program does now
        )

        return import_tensorflow(name, fromlist)
    return builtins.__import__(name, globals, locals, fromlist, level)
