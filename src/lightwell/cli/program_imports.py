"""The import hook that gives each module of a program its TensorFlow, its NumPy and its Python.

The finder answers for the program's source files only; modules of an earlier time get other builtins, among them
another `__import__`. Installed packages never pass through here.
"""

from __future__ import annotations

import ast
import builtins
import functools
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from lightwell.cli import old_arrays, old_numpy, old_python
from lightwell.cli.python2_source import translate
from lightwell.cli.user_program import UserProgram
from lightwell.compat.tf1.spelling import Version

_OLD_CALL = re.compile(rb"\.tostring\(|\b(?:float|int)\(")


@dataclass(frozen=True)
class Habits:
    """What a program's modules take for granted.

    Attributes:
        numpy1: names of NumPy 1 in every module; without it, in those that use one.
        old_python: names, modules and syntax of Python 2 and the first releases of Python 3.
        in_python2: whether one of them can only be Python 2, so that those that could be either are, too.
    """

    numpy1: bool = False
    old_python: bool = False
    in_python2: bool = False


class ProgramModuleFinder(MetaPathFinder):
    """Finds the modules of a program."""

    def __init__(self, program: UserProgram, habits: Habits) -> None:
        self._program = program
        self._habits = habits

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or spec.origin is None:
            return None
        if not self._program.owns(spec.origin):
            return None
        spec.loader = ProgramModuleLoader(fullname, spec.origin, self._program, self._habits)
        return spec


class ProgramModuleLoader(SourceFileLoader):
    """Loads a module of a program. Its code is compiled and cached as usual, unless some of it is rewritten."""

    def __init__(self, fullname: str, path: str, program: UserProgram, habits: Habits) -> None:
        super().__init__(fullname, path)
        self._program = program
        self._habits = habits

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        # Here and not in exec_module, which would leave a frame of ours in the program's tracebacks.
        chosen = builtins_of(self.path, self._program, self._habits)
        if chosen is None:
            return None
        module = ModuleType(spec.name)
        vars(module)["__builtins__"] = vars(chosen)
        return module

    def get_code(self, fullname: str) -> CodeType | None:
        source = self.get_data(self.path)
        if not self._habits.old_python and not _may_be_rewritten(source):
            return super().get_code(fullname)  # with Python's cache of compiled modules
        return compile_source(source, self.path, self._habits)


def compile_source(source: str | bytes, file: str, habits: Habits) -> CodeType:
    """Compile a source of the program; a line says so if it is translated from old Python."""
    return compile(parse_source(source, file, habits), file, "exec", dont_inherit=True)


def parse_source(source: str | bytes, file: str, habits: Habits) -> ast.Module:
    """The tree of a source of the program, as it is run."""
    if habits.old_python:
        translated = translate(source, file, habits.in_python2)
        tree = translated.tree
        if translated.changes:
            print(f"lightwell run: {old_python.describe(file, translated.changes)}", file=sys.stderr)
    else:
        tree = ast.parse(source, file)
    old_arrays.rewrite(tree)
    return tree


def _may_be_rewritten(source: bytes) -> bool:
    return _OLD_CALL.search(source) is not None


def builtins_of(file: str, program: UserProgram, habits: Habits) -> ModuleType | None:
    """The builtins of a source file of a program; None for those that every module has."""
    tf1 = program.owns(file) and program.version_of(file) is Version.TF1
    numpy1 = habits.numpy1 or bool(numpy_names_in(file, program))
    return old_builtins(tf1, numpy1, habits.old_python) if tf1 or numpy1 or habits.old_python else None


def numpy_names_in(file: str, program: UserProgram) -> list[tuple[int, str]]:
    """The uses of names that NumPy removed in a file of a program."""
    tree: ast.AST | None = program.tree_of(file)
    return [] if tree is None else list(old_numpy.uses_in(tree))


@functools.cache
def old_builtins(tf1: bool, numpy1: bool, old: bool) -> ModuleType:
    """Python's builtins with an `__import__` for which `tensorflow`, `numpy` and old modules are what they were."""
    copy = ModuleType("builtins", builtins.__doc__)
    vars(copy).update(vars(builtins))
    if old:
        vars(copy).update(old_python.old_builtins)

    def import_as_then(
        name: str,
        globals: dict[str, Any] | None = None,
        locals: dict[str, Any] | None = None,
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> Any:
        if level == 0 and tf1 and name.partition(".")[0] == "tensorflow_core":  # the package's own name in 1.15
            name = name.replace("tensorflow_core", "tensorflow", 1)
        if level == 0 and tf1 and (name == "tensorflow" or name.startswith("tensorflow.")):
            from lightwell.compat.tf1.importing import (
                import_tensorflow,  # loads TensorFlow, as the program does now
            )

            return import_tensorflow(name, fromlist)
        if level == 0 and old and name in {*old_python.MODULES, *old_python.VIEWED} and not _is_own(name):
            return old_python.old_module(name)
        found = builtins.__import__(name, globals, locals, fromlist, level)
        is_top = name == "numpy" or (name.startswith("numpy.") and not fromlist)
        return old_numpy.view() if level == 0 and numpy1 and is_top else found

    vars(copy)["__import__"] = import_as_then
    return copy


def _is_own(name: str) -> bool:
    """Whether the program or a package has a module of an old name: it was meant then."""
    return name in old_python.MODULES and PathFinder.find_spec(name) is not None
