"""Runs a program as `python` does, with `install()` in effect.

Owns the process state that a run sets: `sys.argv`, `sys.path[0]`, `__main__`, the import hooks. `run` returns the exit
code. `SystemExit` passes through, and so does `KeyboardInterrupt` once its traceback is printed.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from lightwell.cli import old_numpy
from lightwell.cli.keras_choice import choose_keras
from lightwell.cli.module_sources import read_source
from lightwell.cli.notebook_cells import cell_code, notebook_namespace, prepare_process
from lightwell.cli.notebooks import SUFFIX, NotANotebook, read_notebook
from lightwell.cli.old_program_errors import explain
from lightwell.cli.program_folders import ProgramFolders, program_folders
from lightwell.cli.program_imports import (
    Habits,
    ProgramModuleFinder,
    builtins_of,
    compile_source,
    numpy_names_in,
)
from lightwell.cli.python2_source import NoFixer, is_python2
from lightwell.cli.spawned import reach_spawned
from lightwell.cli.tracebacks import hide_frames
from lightwell.cli.user_program import UserProgram, main_source_of, reachable_files, read_program
from lightwell.compat.install import install
from lightwell.compat.tf1.spelling import Version


@dataclass(frozen=True)
class RunCommand:
    """A script or a module to run, with its arguments.

    Attributes:
        script: the file to run, or None.
        module: the module to run, or None.
        arguments: the arguments of the program.
        version: the TensorFlow that the command line sets, if any.
        old_numpy: whether to restore the names that NumPy removed for installed packages too.
        old_python: whether to run sources of Python 2 and early Python 3.
    """

    script: str | None = None
    module: str | None = None
    arguments: tuple[str, ...] = ()
    version: Version | None = None
    old_numpy: bool = False
    old_python: bool = False


@dataclass(frozen=True)
class _Main:
    """The compiled main module; a notebook has a piece of code for each cell."""

    file: str
    code: Sequence[CodeType]
    spec: ModuleSpec | None = None
    package: str | None = None
    names: Mapping[str, Any] = field(default_factory=dict)
    habits: Habits = field(default_factory=Habits)


class _CannotRun(Exception):
    """The program does not exist or cannot be read."""


def run(command: RunCommand) -> int:
    """Run the program; returns its exit code."""
    try:
        program, main = _prepare_module(command) if command.module else _prepare_script(command)
    except (_CannotRun, NoFixer) as problem:
        print(f"lightwell run: {problem}", file=sys.stderr)
        return 2
    except SyntaxError as error:
        error.__traceback__ = None
        _print_error(error, command)
        return 1
    sys.argv = [main.file if command.module else str(command.script), *command.arguments]
    if command.old_numpy:
        old_numpy.restore()
    return _execute(main, program, command)


def _prepare_script(command: RunCommand) -> tuple[UserProgram, _Main]:
    path = os.path.abspath(str(command.script))
    if os.path.isdir(path):
        raise _CannotRun(f"{path!r} is a folder; name the script in it, or use -m for a package")
    try:
        source = read_source(path)
    except OSError as error:
        raise _CannotRun(f"can't open file {path!r}: {error.strerror}") from None
    except NotANotebook as error:
        raise _CannotRun(str(error)) from None
    folder = os.path.dirname(os.path.realpath(path))
    folders = program_folders(folder, os.getcwd())
    _put_first_on_path(folder)
    program = read_program(path, "", folders, command.version)
    files = list(reachable_files(path, "", folders))
    choose_keras(files)
    habits = open_doors(program, command.old_python, files)
    if path.endswith(SUFFIX):
        return program, _prepare_notebook(path, habits)
    return program, _Main(path, [compile_source(source, path, habits)], habits=habits)


def _prepare_notebook(path: str, habits: Habits) -> _Main:
    notebook = read_notebook(path)
    if os.getcwd() not in sys.path and not getattr(sys.flags, "safe_path", False):
        sys.path.insert(1, os.getcwd())  # a kernel imports from where it runs: modules that `%%writefile` wrote
    for note in notebook.notes:
        print(f"lightwell run: {os.path.basename(path)}, {note}", file=sys.stderr)
    prepare_process()
    return _Main(path, cell_code(notebook, habits.old_python), names=notebook_namespace(), habits=habits)


def _prepare_module(command: RunCommand) -> tuple[UserProgram, _Main]:
    name = str(command.module)
    folders = program_folders(os.getcwd())
    _put_first_on_path(os.getcwd())
    program = read_module_program(name, folders, command.version)
    main_source = main_source_of(name, folders)
    files = list(reachable_files(*main_source, folders)) if main_source else []
    choose_keras(files)
    habits = open_doors(program, command.old_python, files)
    spec = _find_module(name)
    if spec.submodule_search_locations is not None:
        name = f"{name}.__main__"
        spec = _find_module(name)
    if not isinstance(spec.loader, SourceFileLoader) or spec.origin is None:
        raise _CannotRun(f"module {name!r} is not a Python source file")
    code = spec.loader.get_code(name)
    if code is None:
        raise _CannotRun(f"module {name!r} has no code")
    return program, _Main(spec.origin, [code], spec, spec.parent, habits=habits)


def _put_first_on_path(folder: str) -> None:
    """Set the first entry of `sys.path` as Python does for a program; `python -P` has none."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder


def read_module_program(name: str, folders: ProgramFolders, forced: Version | None) -> UserProgram:
    """Read the program of `python -m name`, without importing its packages."""
    main_source = main_source_of(name, folders)
    if main_source is None:
        return UserProgram(folders, forced or Version.TF2, forced is not None)
    return read_program(*main_source, folders, forced)


def _find_module(name: str) -> ModuleSpec:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        spec = None
    if spec is None:
        raise _CannotRun(f"No module named {name}")
    return spec


def open_doors(program: UserProgram, old_python: bool = False, files: Iterable[str] = ()) -> Habits:
    """Install the old names, and the import hook for the program's modules; returns what these take for granted.

    Args:
        program: the program.
        old_python: whether its modules are of Python 2 or early Python 3.
        files: the sources that its imports lead to. If one uses a name of NumPy 1, all get NumPy 1's names.
    """
    install()
    own = tuple(files)
    uses = [(file, line, name) for file in own for line, name in numpy_names_in(file, program)]
    in_python2 = old_python and any(is_python2(read_source(file)) for file in own)
    habits = Habits(bool(uses), old_python, in_python2)
    if uses:
        print(f"lightwell run: {_about_numpy(uses)}", file=sys.stderr)
    sys.meta_path.insert(1, ProgramModuleFinder(program, habits))
    reach_spawned(program, habits)
    return habits


def _about_numpy(uses: Sequence[tuple[str, int, str]]) -> str:
    """The line that says that the program sees names of NumPy 1."""
    names = sorted({name for _, _, name in uses})
    shown = ", ".join(f"np.{name}" for name in names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    file, line, _ = uses[0]
    here = importlib.metadata.version("numpy")
    return f"{shown} ({os.path.relpath(file)}:{line}): gone from NumPy {here}, as in NumPy 1 for this program's modules"


def _execute(main: _Main, program: UserProgram, command: RunCommand) -> int:
    module = ModuleType("__main__")
    module.__file__ = main.file
    module.__spec__ = main.spec
    module.__package__ = main.package
    module.__loader__ = main.spec.loader if main.spec else SourceFileLoader("__main__", main.file)
    chosen = builtins_of(main.file, program, main.habits)
    if chosen is not None:
        vars(module)["__builtins__"] = chosen
    vars(module).update(main.names)
    sys.modules["__main__"] = module
    try:
        for code in main.code:
            exec(code, vars(module))
    except SystemExit:
        raise
    except BaseException as error:
        hide_frames(error)
        _print_error(error, command)
        if isinstance(error, KeyboardInterrupt):
            raise
        return 1
    return 0


def _print_error(error: BaseException, command: RunCommand) -> None:
    """Print an error as Python does, and below it an explanation if the program is too old."""
    if str(command.script).endswith(SUFFIX):  # Python's own hook reads lines from files only
        traceback.print_exception(error)
    else:
        sys.excepthook(type(error), error, error.__traceback__)
    target = f"-m {command.module}" if command.module else str(command.script)
    explanation = explain(error, "lightwell run", target)
    if explanation:
        print(f"\nlightwell run: {explanation}", file=sys.stderr)
