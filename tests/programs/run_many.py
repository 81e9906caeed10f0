"""Runs many programs one after the other in one process, and leaves that process as it was before each.

Started by `batch.py`: `python -m tests.programs.run_many JOBS OUTCOMES`. JOBS is a JSON list of
`{"key", "words", "folder"}`; the words are a command line that begins with `lightwell` or `python`, the folder is the
current directory of that program.
OUTCOMES becomes a JSON object, key -> exit code, stdout, stderr and seconds.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf
from absl import flags

import lightwell
from lightwell.cli.main import main as lightwell_command


@contextlib.contextmanager
def same_process() -> Iterator[None]:
    """Puts back what a program changes of the process."""
    before = sys.argv, list(sys.path), list(sys.meta_path), sys.modules["__main__"], set(flags.FLAGS)
    folder, environment = os.getcwd(), dict(os.environ)
    try:
        yield
    finally:
        lightwell.uninstall()
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv, sys.path[:], sys.meta_path[:], sys.modules["__main__"] = before[:4]
        for name in set(flags.FLAGS) - before[4]:
            delattr(flags.FLAGS, name)
        flags.FLAGS.unparse_flags()
        tf.compat.v1.reset_default_graph()


def start(command: str, *words: str) -> int:
    if command == "lightwell":
        return lightwell_command(words)
    sys.argv = list(words)
    runpy.run_path(words[0], run_name="__main__")
    return 0


def run(words: list[str], folder: str) -> dict[str, Any]:
    out, err, began = io.StringIO(), io.StringIO(), time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), same_process():
        os.chdir(folder)
        try:
            code = start(*words)
        except SystemExit as leaving:
            code = leaving.code or 0
        except BaseException:
            traceback.print_exc()
            code = 1
    seconds = round(time.monotonic() - began, 2)
    return {"code": code, "out": out.getvalue(), "err": err.getvalue(), "seconds": seconds}


if __name__ == "__main__":
    jobs = json.loads(Path(sys.argv[1]).read_text())
    outcomes = {job["key"]: run(job["words"], job["folder"]) for job in jobs}
    Path(sys.argv[-1]).write_text(json.dumps(outcomes))
