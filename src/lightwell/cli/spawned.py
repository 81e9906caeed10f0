"""Processes that a program spawns are of the program too: its names, its TensorFlow, its NumPy and its Python.

`multiprocessing` sends a child what it needs to load the main module again. Under `lightwell run` that holds one more
object, which opens the doors in the child when it is read, before anything of the program runs. Nothing else of the
environment changes: no variable, no file. It reaches the start methods `spawn` and `forkserver`; a forked child is a
copy of its parent anyway, and other programs that a program starts are left alone.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, SourceFileLoader
from multiprocessing import spawn
from types import CodeType, ModuleType
from typing import Any

from lightwell.cli.module_sources import read_source
from lightwell.cli.notebooks import SUFFIX
from lightwell.cli.program_imports import Habits, ProgramModuleFinder, builtins_of, compile_source
from lightwell.cli.user_program import UserProgram
from lightwell.compat.install import install

_KEY = "lightwell"


@dataclass(frozen=True)
class SpawnedPart:
    """What a child needs to be of the program. Reading it (unpickling) opens the doors in that process.

    Attributes:
        program: the program.
        habits: what its modules take for granted.
        path: `sys.path` of the parent.
    """

    program: UserProgram
    habits: Habits
    path: Sequence[str] = field(default_factory=tuple)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _open_in_child, (self.program, self.habits, tuple(self.path))


def reach_spawned(program: UserProgram, habits: Habits) -> None:
    """Let the processes that this one spawns from now on be of the program."""
    before = getattr(spawn.get_preparation_data, "before", spawn.get_preparation_data)

    def get_preparation_data(name: str) -> dict[str, Any]:
        data: dict[str, Any] = before(name)
        return {_KEY: SpawnedPart(program, habits, sys.path), **data}

    get_preparation_data.before = before  # type: ignore[attr-defined]
    spawn.get_preparation_data = get_preparation_data


def _open_in_child(program: UserProgram, habits: Habits, path: Sequence[str]) -> SpawnedPart:
    sys.path[:] = path
    install()
    sys.meta_path.insert(1, ProgramModuleFinder(program, habits))
    reach_spawned(program, habits)
    for name, load in (("_fixup_main_from_path", _load_script), ("_fixup_main_from_name", _load_module)):
        if hasattr(spawn, name):  # private names of Python's library; without them, the main module is plain Python
            setattr(spawn, name, functools.partial(load, program, habits))
    return SpawnedPart(program, habits, path)


def _load_script(program: UserProgram, habits: Habits, path: str) -> None:
    """Load the script of the parent as `__mp_main__`, as `multiprocessing` does, with what the program takes for
    granted.
    """
    if getattr(sys.modules["__main__"], "__file__", None) == path or path.endswith(SUFFIX):
        return  # loaded, or a notebook, whose cells run in the parent alone
    code = compile_source(read_source(path), path, habits)
    _run_main(program, habits, code, path, SourceFileLoader("__mp_main__", path), None)


def _load_module(program: UserProgram, habits: Habits, name: str) -> None:
    """Load the module that `python -m` ran in the parent, in the same way."""
    if name == "__main__" or name.endswith(".__main__"):
        return  # as multiprocessing does: such a module is not meant to be imported
    if getattr(getattr(sys.modules["__main__"], "__spec__", None), "name", None) == name:
        return
    spec = importlib.util.find_spec(name)
    if spec is None or not isinstance(spec.loader, SourceFileLoader) or spec.origin is None:
        return
    code = spec.loader.get_code(name)
    if code is not None:
        _run_main(program, habits, code, spec.origin, spec.loader, spec)


def _run_main(
    program: UserProgram, habits: Habits, code: CodeType, path: str, loader: SourceFileLoader, spec: ModuleSpec | None
) -> None:
    module = ModuleType("__mp_main__")
    module.__file__, module.__loader__, module.__spec__ = path, loader, spec
    module.__package__ = None if spec is None else spec.parent
    chosen = builtins_of(path, program, habits)
    if chosen is not None:
        vars(module)["__builtins__"] = chosen
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module
    exec(code, vars(module))
