"""The roles of a cluster in `train_and_evaluate`: chief and worker train, a ps serves, an evaluator follows.

`TF_CONFIG` assigns the role of this process. The processes communicate through `model_dir` and TensorFlow's servers
only.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.errors import UsageError
from lightwell.estimator.workflow.follow import follow
from lightwell.estimator.workflow.observers import EvaluationObserver
from lightwell.estimator.workflow.result import TrainAndEvaluateResult
from lightwell.estimator.workflow.rounds import Rounds
from lightwell.estimator.workflow.specs import TrainSpec
from lightwell.run.checkpoints.finished import mark_finished, read_stop_request
from lightwell.run.checkpoints.index import step_of
from lightwell.run.cluster import CHIEF, EVALUATOR, MASTER, PS, WORKER, is_synchronized
from lightwell.run.config import RunConfig
from lightwell.run.devices.member import finished_in, name_of_task, newly_finished, start_server
from lightwell.run.hooks.checkpoint_work import CheckpointWork

_WHERE = "train_and_evaluate"
_LOCAL = "local"  # the name of tf.estimator for a process without a cluster, which TF_CONFIG must not use
_DELAY_PER_WORKER_SECS, _MAX_DELAY_SECS = 5, 60
_POLL_SECS, _POLL_SECS_REMOTE = 0.5, 10.0
_GRACE_SECS = 2.0


def check_role(config: RunConfig) -> bool:
    """Whether this process has one role of several; a `master` trains and evaluates, like a single process.

    Raises:
        UsageError: there is no such role.
    """
    task_type = config.task_type
    if not config.cluster_spec.jobs and task_type != EVALUATOR:
        return False
    if task_type == _LOCAL:
        raise UsageError(
            f"{_WHERE}: `task.type` in TF_CONFIG cannot be `local`. Leaving `cluster` and `task` properties in "
            "TF_CONFIG absent triggers train and evaluate `Estimator` locally (non-distributed)."
        )
    known = sorted((CHIEF, EVALUATOR, MASTER, PS, WORKER))
    if task_type not in known:
        raise UsageError(
            f"{_WHERE}: Task type {task_type} is not supported. Supported task types are {known}. For a job of your "
            "own, do its work before you call it."
        )
    if task_type == EVALUATOR and config.task_id != 0:
        raise UsageError(
            f"{_WHERE}: For distributed training, there can only be one `evaluator` task (with task id 0). Given task "
            f'id {config.task_id}. For several evaluations give one evaluator a list of EvalSpecs; TF_CONFIG: "task": '
            '{"type": "evaluator", "index": 0}.'
        )
    if config.master and task_type != PS:
        start_server(config, may_exist=False)
    return task_type != MASTER


def run_role(
    estimator: Any, train_spec: TrainSpec, rounds: Rounds, observers: Sequence[EvaluationObserver]
) -> TrainAndEvaluateResult:
    """Runs the role of this process to its end."""
    config: RunConfig = estimator.config
    if config.task_type == PS:
        serve(config, estimator.model_dir)
    if config.task_type == EVALUATOR:
        return follow(estimator, train_spec.max_steps, rounds, observers)
    if not config.is_chief:
        if not is_synchronized(config.train_distribute):
            _delay(config)
    else:
        logger.info("This process is the chief of a cluster: it trains, and evaluating is the evaluator's work.")
    stop_listener = _StopListener(estimator.model_dir)
    saves = config.is_chief and (config.save_checkpoints_steps or config.save_checkpoints_secs)
    estimator.train(
        input_fn=train_spec.input_fn,
        max_steps=train_spec.max_steps,
        hooks=list(train_spec.hooks),
        saving_listeners=(*train_spec.saving_listeners, *([stop_listener] if saves else [])),
    )
    if config.is_chief:
        _mark_finished(estimator, train_spec.max_steps, stop_listener.reason)
    return rounds.result("This process trained only.")


def serve(config: RunConfig, model_dir: str) -> None:
    """Serves variables until the chief says that the training is over; then ends the process.

    In `tf.estimator` it never ends; code after `train_and_evaluate` does not run in a ps.

    Raises:
        SystemExit: always, with the code 0.
    """
    before = finished_in(model_dir)
    start_server(config, may_exist=False)
    logger.info("This process is %s: it holds variables while others train.", name_of_task(config))
    pause = _POLL_SECS_REMOTE if "://" in model_dir else _POLL_SECS
    finished = None
    while finished is None:
        time.sleep(pause)
        finished = newly_finished(model_dir, before)
    time.sleep(_GRACE_SECS)  # workers are at their last step
    logger.info("The training has ended at step %d, and so does %s.", finished.global_step, name_of_task(config))
    raise SystemExit(0)


def write_mark(estimator: Any, write: Callable[[str], None]) -> None:
    """Writes a mark to the Estimator's directory; a replaced Estimator may have none."""
    try:
        write(os.fspath(estimator.model_dir))
    except (tf.errors.OpError, OSError, TypeError) as error:
        logger.warning("%s: how far the training is could not be noted in model_dir: %s", _WHERE, error)


def trained_step(estimator: Any) -> int | None:
    """The step of the newest checkpoint."""
    checkpoint = estimator.latest_checkpoint()
    return step_of(checkpoint) if isinstance(checkpoint, str) else None


def _delay(config: RunConfig) -> None:
    """Delays each worker, so that the chief begins first, as `tf.estimator` does."""
    max_secs = config.experimental_max_worker_delay_secs
    seconds = min(_MAX_DELAY_SECS if max_secs is None else max_secs, _DELAY_PER_WORKER_SECS * (config.task_id + 1))
    if seconds > 0:
        logger.info("Waiting %d secs before starting training.", seconds)
        time.sleep(seconds)


class _StopListener(CheckpointWork):
    """Ends the training of a chief at a checkpoint, if its evaluator has requested it."""

    def __init__(self, model_dir: str) -> None:
        self._model_dir = model_dir
        self.reason = ""

    def after_save(self, session: Any, global_step_value: Any) -> bool | None:
        self.reason = read_stop_request(self._model_dir)
        if not self.reason:
            return None
        logger.info("Training stops at step %d, as the evaluator asks: %s", int(global_step_value), self.reason)
        return True


def _mark_finished(estimator: Any, max_steps: Any, stop_reason: str) -> None:
    step = trained_step(estimator)
    if step is None:
        return
    is_reached = max_steps is not None and step >= math.ceil(max_steps)
    stopped = (
        f"max_steps={max_steps} was reached." if is_reached else stop_reason or f"The training ended at step {step}."
    )
    write_mark(estimator, lambda directory: mark_finished(directory, step, stopped))
