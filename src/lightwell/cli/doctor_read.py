"""Reads a program without running it: which TensorFlow names it uses, and what is too old for today's Python.

`examine` returns a `Report`: plain data for the text and the JSON.
"""

from __future__ import annotations

import ast
import functools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from lightwell.cli import old_numpy, old_program_errors
from lightwell.cli.doctor_names import State, Verdict, judge
from lightwell.cli.installed_names import is_installed, tensorflow_version
from lightwell.cli.module_sources import module_sources, read_source
from lightwell.cli.notebooks import SUFFIX, read_notebook
from lightwell.cli.old_habits import old_habits
from lightwell.cli.python2_parser import ParsedSource, guarded_lines, parse, without_checked_choices
from lightwell.cli.user_program import UserProgram, state_of
from lightwell.compat.tf1.name_uses import NameUse, all_bound_names, read_uses
from lightwell.compat.tf1.spelling import Version

_ORDER = (State.TENSORFLOW, State.LIGHTWELL, State.PACKAGE, State.ABSENT)


@dataclass
class NameReport:
    """A name that the program uses.

    Attributes:
        name: as the program writes it.
        state: where it comes from: `tensorflow`, `lightwell`, `package` (one to install), `absent`.
        advice: where it is, or what to do.
        first: the first use, as `file:line`.
        uses: the number of uses.
        checked: whether all of them are behind a check (`try`, `if hasattr`), so that the program runs without it.
    """

    name: str
    state: str
    advice: str
    first: str
    uses: int = 0
    checked: bool = True


@dataclass
class Problem:
    """Something that is too old for today's Python or its libraries: `kind` is python, numpy or module."""

    kind: str
    what: str
    advice: str
    first: str
    uses: int = 0


# Beginnings of what no translation mends.
UNREADABLE = ("syntax error", "cannot be read")


@dataclass(frozen=True)
class Reason:
    """A thing that stops a program: what, what to do, and where it is first."""

    what: str
    advice: str
    place: str


@dataclass(frozen=True)
class Report:
    """The report on a program.

    Attributes:
        program: the script, folder or module that was examined.
        files: its sources, main first.
        version: the TensorFlow that it is written for: 1 or 2.
        tensorflow: the version of the installed one.
        names: the names of TensorFlow that it uses.
        problems: what else is too old, or missing; names of NumPy 1 come by themselves.
    """

    program: str
    files: tuple[str, ...]
    version: str
    tensorflow: str
    names: tuple[NameReport, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def stops(self) -> int:
        """The number of things that stop the program."""
        return len(self.reasons)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """What stops the program, in the order in which a reader meets it."""
        names = [Reason(row.name, row.advice, row.first) for row in self.names if _stops(row)]
        return (*(Reason(one.what, one.advice, one.first) for one in self.problems if one.kind != "numpy"), *names)

    @property
    def needs_old_python(self) -> bool:
        """Whether `--old-python` removes all that stops it."""
        stopping = [one for one in self.problems if one.kind != "numpy"]
        translated = (one.kind == "python" and not one.what.startswith(UNREADABLE) for one in stopping)
        return bool(stopping) and all(translated) and not any(_stops(row) for row in self.names)


def _stops(row: NameReport) -> bool:
    return row.state in (State.ABSENT.value, State.PACKAGE.value) and not row.checked


def examine(target: str, files: Sequence[str], program: UserProgram, own: Sequence[str] = ()) -> Report:
    """Read the sources of a program.

    Args:
        target: what was named to the doctor.
        files: the sources of the program, main first.
        program: the program.
        own: the sources of its repository.
    """
    findings = _Findings(own=frozenset(_module_names((*files, *own))))
    read: list[str] = []
    for file in files:
        read.append(_relative_path(file))
        source = _program_file(file, program.version_of(file))
        findings.add_names(source)
        findings.add_problems(source)
    order = {state.value: place for place, state in enumerate(_ORDER)}
    names = sorted(findings.rows.values(), key=lambda row: (-order[row.state], row.name))
    version = "1" if program.version is Version.TF1 else "2"
    problems = tuple(findings.problems.values())
    return Report(target, tuple(read), version, tensorflow_version(), tuple(names), problems)


class _ProgramFile:
    """One file of the program."""

    def __init__(self, file: str, version: Version) -> None:
        self.file, self.version = file, version
        self._notebook = read_notebook(file) if file.endswith(SUFFIX) else None
        parsed = parse(read_source(file), file)
        self.parsed = ParsedSource(without_checked_choices(parsed.tree), parsed.old_lines)
        self.guarded = guarded_lines(self.parsed.tree)
        uses = read_uses(self.parsed.tree, ("tensorflow", "tensorflow_estimator"))
        self.verdicts = [(use, _best(use, version)) for use in uses]

    def location(self, line: int) -> str:
        shown = _relative_path(self.file)
        if self._notebook is None:
            return f"{shown}:{line}"
        cell, inside = self._notebook.location_of(line)
        return f"{shown}:cell {cell}:{inside}"


def _program_file(file: str, version: Version) -> _ProgramFile:
    """Read once, however many programs of a repository lead to it."""
    return _read_once(file, version, state_of(file))


@functools.cache
def _read_once(file: str, version: Version, state: tuple[int, int]) -> _ProgramFile:
    return _ProgramFile(file, version)


@dataclass
class _Findings:
    """The results so far, by name."""

    own: frozenset[str] = frozenset()
    rows: dict[str, NameReport] = field(default_factory=dict)
    problems: dict[tuple[str, str], Problem] = field(default_factory=dict)

    def add_names(self, source: _ProgramFile) -> None:
        for use, verdict in source.verdicts:
            if use.starred and verdict.state is State.ABSENT:
                continue  # a name of another module
            if use.imported and _can_always_be_imported(use.names[0]):
                continue  # only what is used of it counts
            if verdict.is_namespace and not use.imported and verdict.state is not State.ABSENT:
                continue  # `layers = tf.layers`: only uses of its names count
            row = self.rows.get(verdict.name)
            if row is None:
                first = source.location(use.line)
                row = NameReport(verdict.name, verdict.state.value, verdict.advice, first)
                self.rows[verdict.name] = row
            row.uses += not use.imported
            row.checked &= use.line in source.guarded

    def add_problems(self, source: _ProgramFile) -> None:
        for line, what, advice in source.parsed.old_lines:
            self._add("python", what, advice, source, line)
        tree = source.parsed.tree
        for line, name, advice in (*_python2_names(tree), *_removed_names(tree), *old_habits(tree)):
            if line not in source.guarded:
                self._add("python", name, advice, source, line)
        for line, name in old_numpy.uses_in(source.parsed.tree):
            if line not in source.guarded:
                row = old_numpy.REMOVED.get(name) or old_numpy.METHODS[name]
                advice = f"removed in NumPy {row.since}; lightwell run gives it to the program's own modules"
                self._add("numpy", f"np.{name}", advice, source, line)
        for line, module in _imports(source.parsed.tree):
            if line not in source.guarded:
                self._add_module(module, source, line)

    def _add_module(self, module: str, source: _ProgramFile, line: int) -> None:
        if module in old_program_errors.MODULES:
            self._add("python", f"import {module}", f"Python 2: {old_program_errors.MODULES[module]} now", source, line)
        elif module not in self.own and not _is_available(module):
            self._add("module", module, f"not installed: pip install {module}", source, line)

    def _add(self, kind: str, what: str, advice: str, source: _ProgramFile, line: int) -> None:
        problem = self.problems.setdefault((kind, what), Problem(kind, what, advice, source.location(line)))
        problem.uses += 1


def _can_always_be_imported(name: str) -> bool:
    """Whether it is something below a module of `tf.contrib`: programs import more of these than they use."""
    return name.startswith("tensorflow.contrib.") and name.count(".") > 3


def _relative_path(file: str) -> str:
    """A path relative to the current directory if it is below that."""
    near = os.path.relpath(file)
    return file if near.startswith(os.pardir) else near


def _module_names(files: Iterable[str]) -> Iterator[str]:
    """The names under which the program may import its modules and folders."""
    for file in files:
        yield os.path.basename(file).partition(".")[0]
        yield os.path.basename(os.path.dirname(file))


def _best(use: NameUse, version: Version) -> Verdict:
    """The best verdict on the names that a use may refer to: programs rebind `tf` to what is installed."""
    verdicts = [judge(name, version) for name in use.names]
    return min(verdicts, key=lambda verdict: _ORDER.index(verdict.state))


def _python2_names(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Names and methods that only Python 2 had."""
    bound = all_bound_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in old_program_errors.NAMES and node.id not in bound:
            yield node.lineno, node.id, f"Python 2: {old_program_errors.NAMES[node.id]} now"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, of = node.func.attr, node.func.value
            if name in old_program_errors.METHODS and not (isinstance(of, ast.Name) and of.id in ("six", "compat")):
                yield node.lineno, f".{name}()", f"Python 2: {old_program_errors.METHODS[name]} now"


def _removed_names(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Names that later releases of Python removed."""
    modules = tuple({module for module, _ in old_program_errors.LATER_PYTHON})
    for use in read_uses(tree, modules):
        module, name, *_ = use.names[0].split(".")
        if (module, name) in old_program_errors.LATER_PYTHON:
            yield use.line, f"{module}.{name}", f"use {old_program_errors.LATER_PYTHON[module, name]}"


def _imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The top-level modules that a source imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.lineno, node.module.partition(".")[0]


def _is_available(module: str) -> bool:
    known = module in sys.stdlib_module_names or module.startswith("tensorflow_estimator") or module == "IPython"
    return known or any(True for _ in module_sources(module)) or is_installed(module)
