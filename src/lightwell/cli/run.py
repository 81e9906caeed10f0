"""`lightwell run (script.py | notebook.ipynb | -m module) [args]`: an unmodified program, with old names installed.

Parses options; `runner` runs the program, `user_program` decides which TensorFlow it is written for.
"""

from __future__ import annotations

import argparse
from typing import Any

from lightwell.cli.runner import RunCommand, run
from lightwell.compat.tf1.spelling import Version

_EPILOG = """\
The program is run as `python` would run it: sys.argv, __name__, sys.path[0] and the exit code are the same. Options of
lightwell go before the script, those of the program after it.

Without --tf1 or --tf2, the sources decide which TensorFlow it gets: a program that uses a name which only TensorFlow 1
had (tf.placeholder, tf.layers, tf.contrib) is one of TensorFlow 1. That holds for the program's own modules, which are
those below the script's folder, the current directory and PYTHONPATH; installed packages always get today's.

A notebook's cells are run in order; lines that only Jupyter understands (%matplotlib, !pip) are skipped, and named.
"""


def add_parser(commands: Any) -> None:
    """Register the sub-command."""
    parser = commands.add_parser(
        "run",
        help="run an unmodified program, TensorFlow 1 spelling included",
        description="Run an unmodified program with tf.estimator and its companions back in place.",
        usage="lightwell run [--tf1 | --tf2] [--old-numpy] [--old-python] "
        "(script.py | notebook.ipynb | -m module) [its arguments]",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = parser.add_mutually_exclusive_group()
    version.add_argument(
        "--tf1",
        dest="version",
        action="store_const",
        const=Version.TF1,
        help="`import tensorflow` in the program means TensorFlow 1",
    )
    version.add_argument(
        "--tf2",
        dest="version",
        action="store_const",
        const=Version.TF2,
        help="`import tensorflow` in the program means today's TensorFlow",
    )
    parser.add_argument(
        "--old-numpy",
        action="store_true",
        help="put back the names that NumPy removed (np.int, np.float, ...) for installed packages too; "
        "the program's own modules have them without it",
    )
    parser.add_argument(
        "--old-python",
        action="store_true",
        help="run sources of Python 2 and early Python 3: they are translated in memory, and that is said; files stay",
    )
    parser.add_argument("-m", dest="module", metavar="module", help="run a module, as `python -m` does")
    parser.add_argument("script", nargs="?", help="the program, a Python file or a notebook")
    parser.set_defaults(call=_call, parser=parser)


def _call(arguments: argparse.Namespace) -> int:
    if arguments.module is None and arguments.script is None:
        arguments.parser.error("name a script, or a module with -m")
    return run(
        RunCommand(
            script=arguments.script,
            module=arguments.module,
            arguments=tuple(arguments.program),
            version=arguments.version,
            old_numpy=arguments.old_numpy,
            old_python=arguments.old_python,
        )
    )
