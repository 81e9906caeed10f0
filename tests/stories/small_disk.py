"""Trainings and evaluations on disks that are full or cannot be written. Run by `test_small_disk.py` in a mount
namespace of its own, so that what is mounted here is nowhere else and goes with the process. Where nothing may be
mounted, the size of files is limited instead, and rights are taken away.

Prints, as JSON, what became of each.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1
LOGGED: list[str] = []
TOLD: dict[str, dict[str, Any]] = {}
CAN_MOUNT = sys.argv[2] == "can-mount"


def tell(name: str, directory: Path, act: Callable[[], Any]) -> None:
    """Does something, and notes what came of it."""
    LOGGED.clear()
    result: dict[str, Any] = {}
    try:
        made = act()
        result["result"] = {key: float(value) for key, value in made.items()} if isinstance(made, dict) else str(made)
    except Exception as error:
        result.update(kind=type(error).__name__, text=str(error), errno=getattr(error, "errno", None))
    result.update(files=sorted(file.name for file in directory.iterdir()), logged=list(LOGGED))
    TOLD[name] = result


@contextlib.contextmanager
def full(disk: Path, leave: int) -> Iterator[None]:
    """While inside, only so many bytes can be written."""
    if not CAN_MOUNT:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (leave, hard))
        yield
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        return
    room = os.statvfs(disk)
    (disk / "ballast").write_bytes(b"x" * max(room.f_bavail * room.f_frsize - leave, 0))
    yield
    (disk / "ballast").unlink()


class Filled(v1.train.CheckpointSaverListener):
    """Fills the disk when the checkpoint of a step is about to be written."""

    def __init__(self, stack: contextlib.ExitStack, disk: Path, step: int, leave: int) -> None:
        self._stack, self._disk, self._step, self._leave = stack, disk, step, leave

    def before_save(self, session: Any, global_step_value: int) -> None:
        if global_step_value == self._step:
            self._stack.enter_context(full(self._disk, self._leave))


def with_ballast(features: Any, labels: Any, mode: str) -> Any:
    """The tiny model with 200 kB of weights."""
    v1.get_variable("ballast", [50_000])
    return tiny.linear(features, labels, mode, {})


def estimator(directory: Path) -> lw.Estimator:
    return tiny.estimator(directory, with_ballast, save_checkpoints_steps=2)


def small_disk(where: Path) -> Path:
    where.mkdir()
    if CAN_MOUNT:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(where)], check=True)
    (where / "model").mkdir()
    return where


def stories(base: Path) -> None:
    disk = small_disk(base / "empty")
    for name, leave in (("nothing can be written", 0), ("no room for the graph", 16_384)):
        with full(disk, leave):
            tell(name, disk / "model", lambda: estimator(disk / "model").train(tiny.data, steps=2))

    disk = small_disk(base / "trained")
    model = disk / "model"
    with contextlib.ExitStack() as stack:
        listener = Filled(stack, disk, step=4, leave=100_000)
        tell("a checkpoint", model, lambda: estimator(model).train(tiny.data, steps=6, saving_listeners=[listener]))
    with full(disk, 16_384):
        tell("the graph of a second run", model, lambda: estimator(model).train(tiny.data, steps=6))
    with full(disk, 150_000):
        tell("the first checkpoint of a second run", model, lambda: estimator(model).train(tiny.data, steps=6))
    with full(disk, 0):
        tell("evaluate", model, lambda: estimator(model).evaluate(tiny.once))
    tell("there is room again", model, lambda: estimator(model).train(tiny.data, max_steps=6))
    tell("evaluate again", model / "eval", lambda: estimator(model).evaluate(tiny.once))

    readable = base / "readable"
    subprocess.run(["cp", "-r", str(model), str(readable)], check=True)
    if CAN_MOUNT:
        subprocess.run(["mount", "--bind", str(readable), str(readable)], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(readable)], check=True)
    else:
        readable.chmod(0o555)
    hook = [v1.train.SessionRunHook()]
    tell("read-only evaluate", readable, lambda: estimator(readable).evaluate(tiny.once, name="x"))
    tell("read-only evaluate, hooks", readable, lambda: estimator(readable).evaluate(tiny.once, name="x", hooks=hook))
    tell("read-only predict", readable, lambda: len(list(estimator(readable).predict(tiny.once))))
    tell("read-only train", readable, lambda: estimator(readable).train(tiny.data, steps=1))


class _Kept(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        LOGGED.append(record.getMessage())


if __name__ == "__main__":
    logger = logging.getLogger("tensorflow")
    logger.handlers = [_Kept(logging.WARNING)]
    stories(Path(sys.argv[1]))
    json.dump(TOLD, sys.stdout)
