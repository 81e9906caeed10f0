"""`lightwell doctor [program.py | notebook.ipynb | folder | -m module]`: which names of an old program exist today.

Parses options and finds the program's files as `lightwell run` does. `doctor_read` reads them, `doctor_text` renders
the report. Runs and imports nothing of the program, and does not load TensorFlow. Without a program,
`doctor_environment` says what is installed and on which devices models run.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from lightwell.cli.notebooks import SUFFIX, NotANotebook
from lightwell.cli.output import complain, printable, show
from lightwell.cli.program_folders import ProgramFolders, program_folders
from lightwell.cli.user_program import UserProgram, main_source_of, reachable_files, read_program, read_program_files
from lightwell.compat.tf1.spelling import Version

_EPILOG = """\
The first thing to run on an old repository. Every name of TensorFlow that the program and its own modules use is
listed: those that today's TensorFlow has, those that `lightwell run` brings back and from where, and those that are
absent, with what to do; then what is too old for this Python or NumPy, and which modules are not installed.

Without a program: the installed versions, and on which devices models run.

The exit code is 0 when nothing stands in the way, and 1 when something does.
"""
# Folders that hold no sources of the program.
_SKIPPED = frozenset({"site-packages", "dist-packages", "node_modules", "__pycache__", "build", "dist", "venv", "env"})


def add_parser(commands: Any) -> None:
    """Register the sub-command."""
    parser = commands.add_parser(
        "doctor",
        help="say which names of TensorFlow a program uses, and what becomes of them; runs nothing",
        description="Say what of an old program is there in today's TensorFlow, without running it.",
        usage="lightwell doctor [--tf1 | --tf2] [--json] [program.py | notebook.ipynb | folder | -m module]\n"
        "       lightwell doctor --names [namespace]",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = parser.add_mutually_exclusive_group()
    for name, means in (("--tf1", Version.TF1), ("--tf2", Version.TF2)):
        text = f"read it as a program of TensorFlow {means.value}"
        version.add_argument(name, dest="version", action="store_const", const=means, help=text)
    parser.add_argument("--json", action="store_true", help="print plain data instead of tables")
    parser.add_argument(
        "--names",
        nargs="?",
        const="",
        metavar="namespace",
        help="count what becomes of the public names of TensorFlow 1.4 to 2.15; of one namespace, list those refused",
    )
    parser.add_argument("-m", dest="module", metavar="module", help="a module, as `python -m` would run it")
    parser.add_argument("path", nargs="?", help="the program: a Python file, a notebook, or a folder of them")
    parser.set_defaults(call=_call, parser=parser)


class _CannotRead(Exception):
    """There is no such program."""


def _call(arguments: argparse.Namespace) -> int:
    if arguments.names is not None:
        from lightwell.cli.name_coverage import coverage_lines

        return show("\n".join(coverage_lines(arguments.names.removeprefix("tf."))), "doctor")
    if arguments.module is None and arguments.path is None and not arguments.json:
        from lightwell.cli.doctor_environment import environment_lines

        lines, is_usable = environment_lines()
        return show("\n".join(lines), "doctor") or int(not is_usable)
    if (arguments.module is None) == (arguments.path is None):
        arguments.parser.error("name a program, a notebook or a folder, or a module with -m")
    from lightwell.cli.doctor_programs import judge_programs, program_lines, ranked_reasons
    from lightwell.cli.doctor_read import examine
    from lightwell.cli.doctor_text import plain, show_on_terminal

    before = list(sys.path)
    try:
        files, program = _find(arguments)
        report = printable(examine(_target(arguments), files, program))
        is_folder = arguments.module is None and os.path.isdir(arguments.path)
        programs = printable(judge_programs(files, program.folders, arguments.version)) if is_folder else []
    except (_CannotRead, NotANotebook, OSError) as error:
        complain(str(error), "doctor")
        return 2
    finally:
        sys.path[:] = before
    code = 1 if report.stops else 0
    if arguments.json:
        data = {**dataclasses.asdict(report), "stops": report.stops, "needs_old_python": report.needs_old_python}
        if is_folder:
            data["programs"] = [{**dataclasses.asdict(one), "runs": one.runs} for one in programs]
            data["reasons"] = [dataclasses.asdict(one) for one in ranked_reasons(programs)]
        return show(json.dumps(data, indent=1), "doctor") or code
    share = "".join(f"\n{line}" for line in program_lines(programs)) if programs else ""
    if sys.stdout.isatty():
        show_on_terminal(report)
        return show(share.lstrip("\n"), "doctor") or code if share else code
    return show(plain(report) + ("\n" + share if share else ""), "doctor") or code


def _target(arguments: argparse.Namespace) -> str:
    return f"-m {arguments.module}" if arguments.module else str(arguments.path)


def _find(arguments: argparse.Namespace) -> tuple[list[str], UserProgram]:
    """The files of the program, main first, and the program."""
    if arguments.module:
        folders = program_folders(os.getcwd())
        sys.path.insert(0, os.getcwd())
        main_source = main_source_of(arguments.module, folders)
        if main_source is None:
            raise _CannotRead(f"no module named {arguments.module} below {os.getcwd()} or on PYTHONPATH")
        return list(reachable_files(*main_source, folders)), read_program(*main_source, folders, arguments.version)
    path = os.path.abspath(arguments.path)
    if os.path.isdir(path):
        return _find_in_folder(path, arguments.version)
    if not os.path.isfile(path):
        raise _CannotRead(f"can't open file {path!r}: No such file")
    folder = os.path.dirname(os.path.realpath(path))
    folders = program_folders(folder, os.getcwd())
    sys.path.insert(0, folder)
    return list(reachable_files(path, "", folders)), read_program(path, "", folders, arguments.version)


def _find_in_folder(path: str, version: Version | None) -> tuple[list[str], UserProgram]:
    folders: ProgramFolders = program_folders(path, os.getcwd())
    sys.path.insert(0, path)
    files = sorted(_sources_below(path))
    if not files:
        raise _CannotRead(f"{path!r} holds no Python file and no notebook")
    return files, read_program_files(files, folders, version)


def _sources_below(path: str) -> Iterator[str]:
    for folder, below, names in os.walk(path):
        below[:] = [name for name in below if name not in _SKIPPED and not name.startswith(".")]
        yield from (os.path.join(folder, name) for name in names if name.endswith((".py", SUFFIX)))
