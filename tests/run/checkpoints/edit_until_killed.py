"""Edits a model over and over in processes that are killed at random moments; each leaves a copy of the directory.

`python -m tests.run.checkpoints.edit_until_killed MODEL_DIR COPIES HOW_MANY SEED`. Each process is a fork of this one,
which has loaded TensorFlow and used none of it, so that a kill costs no start of Python.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from tests import tiny

from lightwell.estimator import verbs as verbs  # loaded before the processes part


def edit_for_ever(model_dir: str, beginning: int) -> None:
    est = tiny.estimator(model_dir)
    value = float(est.weights["w"])
    while True:
        value += 1
        os.write(beginning, b"e")
        with est.edit() as weights:
            for name in weights:
                weights[name][...] = value


if __name__ == "__main__":
    model_dir, copies, chance = sys.argv[1], Path(sys.argv[2]), random.Random(int(sys.argv[4]))
    for number in range(int(sys.argv[3])):
        told, beginning = os.pipe()
        child = os.fork()
        if not child:
            try:
                edit_for_ever(model_dir, beginning)
            finally:
                os._exit(1)
        os.close(beginning)
        assert os.read(told, 1)
        assert os.read(told, 1)
        started = time.perf_counter()
        assert os.read(told, 1)
        time.sleep((time.perf_counter() - started) * chance.random())
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        os.close(told)
        shutil.copytree(model_dir, copies / str(number))
