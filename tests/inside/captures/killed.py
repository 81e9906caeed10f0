"""Captures in processes that are killed: `python killed.py FOLDER KILLS`. Run by `test_kills.py`.

TensorFlow is loaded once, and each capture runs in a process that is forked before it has started anything.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf
from tests.inside.captures import models

import lightwell as lw

TAPS = ["layers/*", "labels", "predictions/class"]


class Slowly(lw.ScheduledHook):
    """Gives the killer time."""

    def after_run(self, run_context: Any, run_values: Any) -> None:
        time.sleep(0.03)


def capture(folder: Path, to: str, hooks: Any = ()) -> None:
    estimator = lw.Estimator(models.pictures, config=lw.RunConfig(str(folder / "model"), tf_random_seed=1))
    estimator.capture(lambda: models.data(4), TAPS, folder / to, key="id", shard_bytes=900, hooks=list(hooks))


def forked(work: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        os._exit(1)
    os._exit(0)


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(folder: Path, kills: int) -> None:
    chance = random.Random(kills)
    assert ended(forked(lambda: models.trained(folder / "model"))) == 0
    assert ended(forked(lambda: capture(folder, "unbroken"))) == 0
    done = 0
    while done < kills:
        before = shards(folder)
        child = forked(lambda: capture(folder, "broken", [Slowly()]))
        has_ended = False
        while shards(folder) == before and not has_ended:
            gone, status = os.waitpid(child, os.WNOHANG)
            has_ended = gone == child
            assert not has_ended or status == 0
            time.sleep(0.002)
        if has_ended or shards(folder) >= 25:  # all is there: once more from its beginning
            assert has_ended or ended(child) == 0
            shutil.rmtree(folder / "broken")
            continue
        time.sleep(chance.random() * 0.03)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        done += 1
        print(f"killed with {shards(folder)} shards", flush=True)
    assert ended(forked(lambda: capture(folder, "broken"))) == 0


def shards(folder: Path) -> int:
    return len(list((folder / "broken").glob("shard-*.arrow")))


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")
    main(Path(sys.argv[1]), int(sys.argv[2]))
