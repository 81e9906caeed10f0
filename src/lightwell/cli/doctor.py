"""`lightwell doctor (program.py | notebook.ipynb | folder | -m module)`: what of an old program is there today.

Parses its options, finds the program's own files as `lightwell run` does, and hands over to `doctor_read` (what there
is) and `doctor_text` (how it is shown). Nothing of the program is run or imported, and TensorFlow is not loaded.
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
from lightwell.cli.output import complain, show, visible
from lightwell.cli.places import Places, places_of
from lightwell.cli.program import Program, look_at, look_at_all, main_source_of, reachable
from lightwell.tf1.spelling import Version

_EPILOG = """\
The first thing to run on an old repository. Every name of TensorFlow that the program and its own modules use is
listed: those that today's TensorFlow has, those that `lightwell run` brings back and from where, and those that are
absent, with what to do; then what is too old for this Python or NumPy, and which modules are not installed.

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
        usage="lightwell doctor [--tf1 | --tf2] [--json] (program.py | notebook.ipynb | folder | -m module)",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = parser.add_mutually_exclusive_group()
    for name, means in (("--tf1", Version.TF1), ("--tf2", Version.TF2)):
        text = f"read it as a program of TensorFlow {means.value}"
        version.add_argument(name, dest="version", action="store_const", const=means, help=text)
    parser.add_argument("--json", action="store_true", help="print plain data instead of tables")
    parser.add_argument("-m", dest="module", metavar="module", help="a module, as `python -m` would run it")
    parser.add_argument("path", nargs="?", help="the program: a Python file, a notebook, or a folder of them")
    parser.set_defaults(call=_call, parser=parser)


class _CannotRead(Exception):
    """There is no such program."""


def _call(arguments: argparse.Namespace) -> int:
    if (arguments.module is None) == (arguments.path is None):
        arguments.parser.error("name a program, a notebook or a folder, or a module with -m")
    from lightwell.cli.doctor_read import examine
    from lightwell.cli.doctor_text import plain, show_on_terminal

    before = list(sys.path)
    try:
        files, program = _find(arguments)
        report = visible(examine(_called(arguments), files, program))
    except (_CannotRead, NotANotebook, OSError) as error:
        complain(str(error), "doctor")
        return 2
    finally:
        sys.path[:] = before
    code = 1 if report.stops else 0
    if arguments.json:
        data = {**dataclasses.asdict(report), "stops": report.stops}
        return show(json.dumps(data, indent=1), "doctor") or code
    if sys.stdout.isatty():
        show_on_terminal(report)
        return code
    return show(plain(report), "doctor") or code


def _called(arguments: argparse.Namespace) -> str:
    return f"-m {arguments.module}" if arguments.module else str(arguments.path)


def _find(arguments: argparse.Namespace) -> tuple[list[str], Program]:
    """The program's own files, main first, and which TensorFlow they mean."""
    if arguments.module:
        places = places_of(os.getcwd())
        sys.path.insert(0, os.getcwd())
        found = main_source_of(arguments.module, places)
        if found is None:
            raise _CannotRead(f"no module named {arguments.module} below {os.getcwd()} or on PYTHONPATH")
        return list(reachable(*found, places)), look_at(*found, places, arguments.version)
    path = os.path.abspath(arguments.path)
    if os.path.isdir(path):
        return _find_in_folder(path, arguments.version)
    if not os.path.isfile(path):
        raise _CannotRead(f"can't open file {path!r}: No such file")
    folder = os.path.dirname(os.path.realpath(path))
    places = places_of(folder, os.getcwd())
    sys.path.insert(0, folder)
    return list(reachable(path, "", places)), look_at(path, "", places, arguments.version)


def _find_in_folder(path: str, version: Version | None) -> tuple[list[str], Program]:
    places: Places = places_of(path, os.getcwd())
    sys.path.insert(0, path)
    files = sorted(_sources_below(path))
    if not files:
        raise _CannotRead(f"{path!r} holds no Python file and no notebook")
    return files, look_at_all(files, places, version)


def _sources_below(path: str) -> Iterator[str]:
    for folder, below, names in os.walk(path):
        below[:] = [name for name in below if name not in _SKIPPED and not name.startswith(".")]
        yield from (os.path.join(folder, name) for name in names if name.endswith((".py", SUFFIX)))
