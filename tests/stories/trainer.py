"""A program that trains in processes of its own: started once, told on standard input what to do.

Each line is a JSON object with the settings of one training. The training runs in a fork, so that many of them cost one
import of TensorFlow; the fork's process id and, later, how it ended are printed. Run by `processes.py`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1


class SlowEvaluation(lw.SessionRunHook):
    """Tells that an evaluation is running, and takes its time over every batch."""

    def __init__(self, file: str) -> None:
        self.file = file

    def after_create_session(self, session: Any, coord: Any) -> None:
        Path(self.file).write_text(str(session.run(v1.train.get_global_step())))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        time.sleep(0.15)


class TellsWhenItRuns(lw.SessionRunHook):
    """Writes the step at which training starts to a file, once the session is open."""

    def __init__(self, file: str) -> None:
        self.file = file

    def after_create_session(self, session: Any, coord: Any) -> None:
        Path(self.file).write_text(str(session.run(v1.train.get_global_step())))


def whole_batch() -> Any:
    """All the data in each batch: what a step does depends on the weights alone, and not on where the data stand."""
    return tiny.data(batch=len(tiny.X))


def train(settings: dict[str, Any]) -> None:
    """Trains as told; standard error goes to the file that is named."""
    os.environ["TERM"] = "xterm"
    os.environ.pop("CI", None)
    file = os.open(settings["stderr"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, 2)
    tf.get_logger().setLevel("INFO")
    made = tiny.estimator(
        settings["model_dir"],
        params={"learning_rate": settings["rate"]},
        save_checkpoints_steps=settings["save_every"],
        log_step_count_steps=100,
    )
    hooks = [TellsWhenItRuns(settings["started"])]
    if not settings["evaluating"]:
        made.train(whole_batch, hooks=hooks, max_steps=settings["max_steps"])
        return
    result = lw.train_and_evaluate(
        made,
        lw.TrainSpec(whole_batch, settings["max_steps"], hooks),
        lw.EvalSpec(tiny.once, None, hooks=[SlowEvaluation(settings["evaluating"])], every_checkpoints=1),
    )
    told = [{name: float(value) for name, value in one.metrics.items()} for one in result.evaluations]
    Path(settings["result"]).write_text(json.dumps(told))


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            train(json.loads(line))
            return
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
