"""Runs a program as `python` would, with the doors open.

Owns the process state that a run sets: `sys.argv`, `sys.path[0]`, `__main__`, the import hooks. Takes a `Request`,
gives the exit code; `SystemExit` passes through, and so does `KeyboardInterrupt` once its traceback is shown.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from lightwell.cli import old_numpy
from lightwell.cli.cells import code_of, names_for_cells, prepare_process
from lightwell.cli.first_errors import explain
from lightwell.cli.notebooks import SUFFIX, NotANotebook, read_notebook
from lightwell.cli.own_modules import OwnModules, tf1_builtins
from lightwell.cli.places import Places, places_of
from lightwell.cli.program import Program, look_at, main_source_of
from lightwell.cli.sources import text_of
from lightwell.cli.tracebacks import hide_doors
from lightwell.compat.install import install
from lightwell.tf1.spelling import Version


@dataclass(frozen=True)
class Request:
    """What to run: a script or a module, its arguments, and the TensorFlow it means when that was said.

    With `old_numpy`, the names that NumPy removed are put back for the run.
    """

    script: str | None = None
    module: str | None = None
    arguments: tuple[str, ...] = ()
    version: Version | None = None
    old_numpy: bool = False


@dataclass(frozen=True)
class _Main:
    """The program's main module, ready to be executed: a notebook has a piece of code for each cell."""

    file: str
    code: Sequence[CodeType]
    spec: ModuleSpec | None = None
    package: str | None = None
    names: Mapping[str, Any] = field(default_factory=dict)


class _CannotRun(Exception):
    """The program cannot be found or read."""


def run(request: Request) -> int:
    """Run the program; returns its exit code."""
    try:
        program, main = _prepare_module(request) if request.module else _prepare_script(request)
    except _CannotRun as problem:
        print(f"lightwell run: {problem}", file=sys.stderr)
        return 2
    except SyntaxError as error:
        error.__traceback__ = None
        _tell(error, request)
        return 1
    sys.argv = [main.file if request.module else str(request.script), *request.arguments]
    if request.old_numpy:
        old_numpy.restore()
    return _execute(main, program, request)


def _prepare_script(request: Request) -> tuple[Program, _Main]:
    path = os.path.abspath(str(request.script))
    if os.path.isdir(path):
        raise _CannotRun(f"{path!r} is a folder; name the script in it, or use -m for a package")
    try:
        source = text_of(path)
    except OSError as error:
        raise _CannotRun(f"can't open file {path!r}: {error.strerror}") from None
    except NotANotebook as error:
        raise _CannotRun(str(error)) from None
    folder = os.path.dirname(os.path.realpath(path))
    places = places_of(folder, os.getcwd())
    _put_first_on_path(folder)
    program = look_at(path, "", places, request.version)
    open_doors(program)
    if path.endswith(SUFFIX):
        return program, _prepare_notebook(path)
    return program, _Main(path, [compile(source, path, "exec", dont_inherit=True)])


def _prepare_notebook(path: str) -> _Main:
    notebook = read_notebook(path)
    for note in notebook.notes:
        print(f"lightwell run: {os.path.basename(path)}, {note}", file=sys.stderr)
    prepare_process()
    return _Main(path, code_of(notebook), names=names_for_cells())


def _prepare_module(request: Request) -> tuple[Program, _Main]:
    name = str(request.module)
    places = places_of(os.getcwd())
    _put_first_on_path(os.getcwd())
    program = look_at_module(name, places, request.version)
    open_doors(program)
    spec = _find_module(name)
    if spec.submodule_search_locations is not None:
        name = f"{name}.__main__"
        spec = _find_module(name)
    if not isinstance(spec.loader, SourceFileLoader) or spec.origin is None:
        raise _CannotRun(f"module {name!r} is not a Python source file")
    code = spec.loader.get_code(name)
    if code is None:
        raise _CannotRun(f"module {name!r} has no code")
    return program, _Main(spec.origin, [code], spec, spec.parent)


def _put_first_on_path(folder: str) -> None:
    """What Python puts there for a program, in place of what it put there for us; nothing under `python -P`."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder


def look_at_module(name: str, places: Places, forced: Version | None) -> Program:
    """Decide from the module's source, found without importing its packages."""
    found = main_source_of(name, places)
    if found is None:
        return Program(places, forced or Version.TF2, forced is not None)
    return look_at(*found, places, forced)


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


def open_doors(program: Program) -> None:
    """Open the doors, and put the program's own modules behind them."""
    install()
    sys.meta_path.insert(1, OwnModules(program))


def _execute(main: _Main, program: Program, request: Request) -> int:
    module = ModuleType("__main__")
    module.__file__ = main.file
    module.__spec__ = main.spec
    module.__package__ = main.package
    module.__loader__ = main.spec.loader if main.spec else SourceFileLoader("__main__", main.file)
    if program.owns(main.file) and program.version_of(main.file) is Version.TF1:
        vars(module)["__builtins__"] = tf1_builtins()
    vars(module).update(main.names)
    sys.modules["__main__"] = module
    try:
        for code in main.code:
            exec(code, vars(module))
    except SystemExit:
        raise
    except BaseException as error:
        hide_doors(error)
        _tell(error, request)
        if isinstance(error, KeyboardInterrupt):
            raise
        return 1
    return 0


def _tell(error: BaseException, request: Request) -> None:
    """Show an error as Python does, and below it what it means when the program is older than its surroundings."""
    if str(request.script).endswith(SUFFIX):  # Python's own hook knows lines of files only
        traceback.print_exception(error)
    else:
        sys.excepthook(type(error), error, error.__traceback__)
    called = f"-m {request.module}" if request.module else str(request.script)
    meaning = explain(error, f"lightwell run --old-numpy {called} ...")
    if meaning:
        print(f"\nlightwell run: {meaning}", file=sys.stderr)
