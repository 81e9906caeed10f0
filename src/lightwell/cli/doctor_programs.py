"""Which programs of a repository will run: every file that does something when it is run, judged on its own.

A program is a file with a test of `__name__`, or with calls at its top. It is judged with the modules that it leads to,
as `lightwell run <file>` from the repository's folder would find them.
"""

from __future__ import annotations

import ast
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lightwell.cli.doctor_read import Reason, examine
from lightwell.cli.notebooks import SUFFIX
from lightwell.cli.program_folders import ProgramFolders
from lightwell.cli.user_program import reachable_files, read_program, tree_of
from lightwell.compat.tf1.spelling import Version

# Calls at the top of a module that prepare something, and do nothing yet.
_PREPARING = tuple(
    """
    DEFINE_ add_ append basicConfig disable_ enable_ filterwarnings insert register seed setLevel set_random_seed
    set_verbosity setdefault simplefilter update use
    """.split()
)


@dataclass(frozen=True)
class JudgedProgram:
    """One program of a repository.

    Attributes:
        file: its path.
        reasons: what stops it; none if it will run.
        needs_old_python: whether `lightwell run --old-python` runs it all the same.
    """

    file: str
    reasons: tuple[Reason, ...]
    needs_old_python: bool

    @property
    def runs(self) -> bool:
        """Whether `lightwell run` runs it, with `--old-python` where it says so."""
        return not self.reasons or self.needs_old_python


@dataclass(frozen=True)
class RankedReason:
    """A reason, and the programs that it stops."""

    what: str
    advice: str
    programs: tuple[str, ...]


def judge_programs(files: Sequence[str], folders: ProgramFolders, forced: Version | None) -> list[JudgedProgram]:
    """Every program among the files of a repository."""
    return [
        _judge(file, folders, forced, files) for file in files if file.endswith(SUFFIX) or is_program(tree_of(file))
    ]


def ranked_reasons(programs: Sequence[JudgedProgram]) -> list[RankedReason]:
    """What stops the programs that will not run, the most frequent first."""
    stopped: dict[str, dict[str, str]] = defaultdict(dict)
    advice: dict[str, str] = {}
    for program in programs:
        for reason in () if program.runs else program.reasons:
            stopped[reason.what][program.file] = reason.place
            advice.setdefault(reason.what, reason.advice)
    order = sorted(stopped, key=lambda what: (-len(stopped[what]), what))
    return [RankedReason(what, advice[what], tuple(stopped[what])) for what in order]


def is_program(tree: ast.Module) -> bool:
    """Whether a source does something when it is run."""
    return any(_does_something(node) for node in tree.body)


def _does_something(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return any(isinstance(each, ast.Name) and each.id == "__name__" for each in ast.walk(node.test))
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    called = node.value.func
    name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
    return not str(name).startswith(_PREPARING)


def _judge(file: str, folders: ProgramFolders, forced: Version | None, files: Sequence[str]) -> JudgedProgram:
    before = list(sys.path)
    sys.path.insert(0, os.path.dirname(file))
    try:
        reached = list(reachable_files(file, _package_of(file, files), folders))
        report = examine(file, reached, read_program(file, "", folders, forced), own=files)
    finally:
        sys.path[:] = before
    near = os.path.relpath(file)
    return JudgedProgram(near, report.reasons, report.needs_old_python)


def _package_of(file: str, files: Sequence[str]) -> str:
    """The package that relative imports of a file start from, if it is in one."""
    parts: list[str] = []
    folder = os.path.dirname(file)
    known = set(files)
    while os.path.join(folder, "__init__.py") in known:
        parts.insert(0, os.path.basename(folder))
        folder = os.path.dirname(folder)
    return ".".join(parts)


def program_lines(programs: Sequence[JudgedProgram]) -> Iterator[str]:
    """The share that will run, and what stops the others."""
    running = [one for one in programs if one.runs]
    old = sum(one.needs_old_python for one in running)
    share = f" ({100 * len(running) // len(programs)}%)" if programs else ""
    with_option = f", {old} of them with --old-python" if old else ""
    yield f"{len(running)} of {len(programs)} programs will run{share}{with_option}."
    for reason in ranked_reasons(programs)[:20]:
        count = len(reason.programs)
        shown = ", ".join(reason.programs[:3]) + (", ..." if count > 3 else "")
        yield f"  {count:>4} {'stops at' if count == 1 else 'stop at'} {reason.what}  ({shown})  {reason.advice}"
