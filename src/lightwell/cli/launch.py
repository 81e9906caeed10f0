"""`lightwell launch program.py --workers 2 --ps 1 --evaluator`: a cluster of processes on this machine.

Parses options and writes a `TF_CONFIG` for every task; `processes` runs them. Loads no TensorFlow.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import socket
import sys
from typing import Any

from lightwell.cli.processes import LaunchTask, run_all

_EPILOG = """\
Each task is a process that runs the same program (as `lightwell run` does). The environment variable TF_CONFIG names
its task, and tf.estimator.train_and_evaluate runs that task: the chief trains and saves, workers train, a
ps holds variables, the evaluator evaluates checkpoints.

Every line that a task writes begins with its name. Ctrl-C ends all; the chief saves a checkpoint before. A task that
dies is reported; with --restart it is started again, and goes on from the last checkpoint. Without, the death of the
chief or a ps ends all, that of a worker or the evaluator only itself. The exit code is that of the first task that
failed for good, 0 if none did.

With --ps 0 there are none: that is for programs whose RunConfig has train_distribute=MultiWorkerMirroredStrategy(), in
which all take every step together. If one dies there, all end, and with --restart all are started again.

examples:
  lightwell launch train.py --workers 3 --ps 1 --evaluator
  lightwell launch train.py --workers 2 --ps 0                               chief and workers take steps together
  lightwell launch train.py --workers 1 --ps 1 --restart -- --steps 1000     arguments of the program go after --
  lightwell launch -m trainer.task --workers 2 --ps 2 --dry-run
"""


def add_parser(commands: Any) -> None:
    """Register the sub-command."""
    parser = commands.add_parser(
        "launch",
        help="run a program as a cluster of processes on this machine",
        description="Run a program as a cluster of processes on this machine, with free ports and TF_CONFIG set.",
        usage="lightwell launch (program.py | -m module) [--workers N] [--ps N] [--evaluator] [--restart [N]] "
        "[--dry-run] [-- its arguments]",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("script", nargs="?", metavar="program.py", help="the program")
    parser.add_argument("-m", dest="module", metavar="module", help="run a module in place of a script")
    parser.add_argument("--workers", type=_count, default=0, metavar="N", help="workers beside the chief (0)")
    parser.add_argument("--ps", type=_count, metavar="N", help="parameter servers (1 if there are workers; 0 for none)")
    parser.add_argument("--evaluator", action="store_true", help="one task that evaluates the checkpoints")
    parser.add_argument(
        "--restart",
        type=_count,
        nargs="?",
        const=3,
        default=0,
        metavar="N",
        help="start a task that died again, at most N times each (3)",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the TF_CONFIG of each task, and start nothing")
    parser.set_defaults(call=launch, parser=parser)


def launch(arguments: argparse.Namespace) -> int:
    """Start the cluster; returns the exit code."""
    if (arguments.script is None) == (arguments.module is None):
        arguments.parser.error("name one program: a script, or a module with -m")
    if arguments.script is not None and not os.path.isfile(arguments.script):
        print(f"lightwell launch: there is no file {arguments.script!r}", file=sys.stderr)
        return 2
    servers = int(arguments.workers > 0) if arguments.ps is None else arguments.ps
    target = ["-m", arguments.module] if arguments.module else [arguments.script]
    words = [*target, *arguments.program]
    tasks = [
        LaunchTask(kind, index, settings, [sys.executable, "-m", "lightwell", "run", *words])
        for kind, index, settings in task_settings(arguments.workers, servers, arguments.evaluator)
    ]
    if arguments.dry_run:
        for task in tasks:
            print(f"# {task.name}\nTF_CONFIG={shlex.quote(task.settings)} lightwell run {shlex.join(words)}")
        return 0
    return run_all(tasks, arguments.restart)


def task_settings(workers: int, servers: int, evaluator: bool) -> list[tuple[str, int, str]]:
    """Type, index and `TF_CONFIG` of each task; tasks that others wait for come first."""
    kinds = [("ps", index) for index in range(servers)] + [("chief", 0)]
    kinds += [("worker", index) for index in range(workers)]
    cluster: dict[str, list[str]] = {}
    for (kind, _), port in zip(kinds, free_ports(len(kinds)), strict=True):
        cluster.setdefault(kind, []).append(f"localhost:{port}")
    places = [(kind, index, {"cluster": cluster}) for kind, index in kinds]
    if evaluator:
        # The evaluator is no member of the cluster, but a MultiWorkerMirroredStrategy needs one that contains its task.
        itself = {"evaluator": [f"localhost:{free_ports(1)[0]}"]}
        places.append(("evaluator", 0, {"cluster": itself if workers and not servers else cluster}))
    return [
        (kind, index, json.dumps({**place, "task": {"type": kind, "index": index}})) for kind, index, place in places
    ]


def free_ports(count: int) -> list[int]:
    """Free ports of this machine. All stay bound until the last is chosen, so that they differ."""
    with contextlib.ExitStack() as sockets:
        ports = []
        for _ in range(count):
            probe = sockets.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            probe.bind(("", 0))
            ports.append(int(probe.getsockname()[1]))
        return ports


def _count(word: str) -> int:
    if not word.isdigit():
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 0, got {word!r}")
    return int(word)
