"""A small program that trains on a cluster, and a parent that starts, kills and starts again its tasks.

Run as a script, it reads commands from its standard input, one in a line: `start TYPE INDEX`, `kill TYPE INDEX`; each
is answered in a line of its standard output, and so is the end of a task: `ended TYPE INDEX CODE`. TensorFlow is
loaded once; tasks are forks, which begin where the program does. What a task writes is in `LOGS/TYPE-INDEX.log`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw

WEIGHTS = np.array([[1.0], [2.0], [-1.0]], np.float32)


def data() -> Any:
    x = np.random.RandomState(0).randn(64, 3).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x @ WEIGHTS + 0.5))


def model_fn(features: Any, labels: Any, mode: str, config: Any, params: Any) -> Any:
    zeros = tf.compat.v1.zeros_initializer()
    weights = tf.compat.v1.get_variable("weights", [3, 1], initializer=zeros)
    bias = tf.compat.v1.get_variable("bias", [1], initializer=zeros)
    loss = tf.reduce_mean(tf.square(tf.matmul(features["x"], weights) + bias - labels))
    optimizer: Any = tf.compat.v1.train.AdagradOptimizer(0.5)
    hooks = []
    if params["together"] and mode == "train":
        optimizer = tf.compat.v1.train.SyncReplicasOptimizer(optimizer, 2, total_num_replicas=2)
        hooks = [optimizer.make_session_run_hook(config.is_chief)]
    step = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    return lw.EstimatorSpec(mode, loss=loss, train_op=step, training_hooks=hooks)


class Slow(tf.compat.v1.train.SessionRunHook):
    """Takes its time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def after_run(self, run_context: Any, run_values: Any) -> None:
        time.sleep(self._seconds)


def main(model_dir: str, max_steps: int, seconds: float, together: bool) -> None:
    """What a user's program does; `together`, all who train take part in every step, each with all of the data."""
    config = lw.RunConfig(
        model_dir=model_dir,
        save_checkpoints_steps=20,
        keep_checkpoint_max=0,
        log_step_count_steps=20,
        experimental_max_worker_delay_secs=0,
    )
    watch = lw.Watch("loss", every=20, do=lambda step: print("WATCHED", step.global_step, flush=True))
    hooks = [watch, *([Slow(seconds)] if seconds else [])]
    if config.task_type == "worker":
        hooks.append(tf.compat.v1.train.GlobalStepWaiterHook(0 if together else 5))
    size = 64 if together else 16
    result = lw.train_and_evaluate(
        lw.Estimator(model_fn, config=config, params={"together": together}),
        lw.TrainSpec(lambda: data().repeat().batch(size), max_steps=max_steps, hooks=hooks),
        lw.EvalSpec(lambda: data().batch(16), steps=None, start_delay_secs=0, throttle_secs=0),
    )
    found = result.eval_result and {name: float(value) for name, value in result.eval_result.items()}
    print("RESULT", json.dumps([config.task_type, config.task_id, found, result.stopped]), flush=True)


def parent(logs: str, cluster: dict[str, list[str]], *program: Any) -> None:
    """Obeys the commands on standard input, until it ends."""
    pids: dict[tuple[str, int], int] = {}
    left = b""
    while True:
        readable, _, _ = select.select([0], [], [], 0.05)
        if readable:
            got = os.read(0, 4096)
            if not got:
                break
            *lines, left = (left + got).split(b"\n")
            for line in lines:
                verb, kind, index = line.decode().split()
                task = kind, int(index)
                if verb == "start":
                    pids[task] = started(logs, cluster, task, program)
                else:
                    os.kill(pids[task], signal.SIGKILL)
        for task, pid in list(pids.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del pids[task]
                print("ended", *task, os.waitstatus_to_exitcode(status), flush=True)
    for pid in pids.values():
        os.kill(pid, signal.SIGKILL)


def started(logs: str, cluster: dict[str, list[str]], task: tuple[str, int], program: tuple[Any, ...]) -> int:
    pid = os.fork()
    if pid:
        return pid
    log = os.open(os.path.join(logs, f"{task[0]}-{task[1]}.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": task[0], "index": task[1]}})
    code = 1
    try:
        tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.INFO)
        main(*program)
        code = 0
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    settings = json.loads(sys.argv[1])
    parent(settings["logs"], settings["cluster"], *settings["program"])
