"""The `lightwell` command: parses the command line, calls the sub-command.

Each sub-command is a module with `add_parser(commands)`. It registers a parser and sets `call`, a function of the
parsed arguments that returns the exit code. This module loads no TensorFlow.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from importlib import metadata

import lightwell
from lightwell.cli.arguments import split_launch_arguments, split_run_arguments

COMMANDS = tuple(f"lightwell.cli.{name}" for name in ("capture", "doctor", "export", "inspect", "launch", "run"))
_EPILOG = """\
examples:
  lightwell doctor train.py                   what of an old program is there today; runs nothing
  lightwell run train.py --steps 1000         run an old program as it is
  lightwell launch train.py --workers 2 --ps 1  the same as a cluster of processes on this machine
  lightwell inspect runs/mnist                layers, weights and checkpoints of its model_dir
  lightwell inspect runs/mnist layers/dense   one layer, and how its weights changed
  lightwell inspect acts                      what a capture holds
  lightwell export runs/mnist --to tflite     its newest SavedModel as a TFLite file, checked

lightwell <command> --help tells more.
"""
_AFTER_DASHES = "; what is meant for the program goes after --, at the end"
_BUILDS = ("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tensorflow-macos", "tensorflow-rocm", "tf-nightly")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = make_parser()
    program: list[str] = []
    if words[:1] == ["run"]:
        own, program = split_run_arguments(words[1:])
        words = ["run", *own]
    elif words[:1] == ["launch"]:
        own, program = split_launch_arguments(words[1:])
        words = ["launch", *own]
    arguments, unknown = parser.parse_known_args(words)
    if unknown:
        hint = {"run": "; what is meant for the program goes after it", "launch": _AFTER_DASHES}.get(words[0], "")
        arguments.parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    if arguments.call is None:
        parser.print_help()
        return 0
    arguments.program = program
    try:
        code: int = arguments.call(arguments)
    except KeyboardInterrupt:
        # Python ends the process by the signal, as a shell expects; the traceback has been printed.
        sys.excepthook = _print_nothing
        raise
    return code


def _print_nothing(*error: object) -> None:
    """Replaces `sys.excepthook`."""


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command."""
    parser = argparse.ArgumentParser(
        prog="lightwell",
        description="The Estimator, alive on today's TensorFlow, with daylight in the middle.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=version_text())
    parser.set_defaults(call=None, parser=parser)
    commands = parser.add_subparsers(title="commands", metavar="<command>")
    for module_name in COMMANDS:
        importlib.import_module(module_name).add_parser(commands)
    return parser


def version_text() -> str:
    """The versions of Lightwell and the installed TensorFlow, from package metadata."""
    for build in _BUILDS:
        try:
            return f"lightwell {lightwell.__version__} ({build} {metadata.version(build)})"
        except metadata.PackageNotFoundError:
            continue
    return f"lightwell {lightwell.__version__} (no TensorFlow found)"
