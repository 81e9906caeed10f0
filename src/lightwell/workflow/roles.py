"""The parts of a cluster in `train_and_evaluate`: chief and worker train, a ps serves, an evaluator follows.

Takes an Estimator whose `RunConfig` says, by `TF_CONFIG`, which part this process has. The parts meet in `model_dir`
and on TensorFlow's own servers, nowhere else.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.checkpoints.finished import mark_finished, stop_asked
from lightwell.checkpoints.index import step_of
from lightwell.cluster import CHIEF, EVALUATOR, MASTER, PS, WORKER, trains_together
from lightwell.config import RunConfig
from lightwell.devices.member import finished_in, name_of_task, newly_finished, start_server
from lightwell.errors import UsageError
from lightwell.hooks.checkpoint_work import CheckpointWork
from lightwell.log import logger
from lightwell.workflow.follow import follow
from lightwell.workflow.observers import EvaluationObserver
from lightwell.workflow.result import TrainAndEvaluateResult
from lightwell.workflow.rounds import Rounds
from lightwell.workflow.specs import TrainSpec

_WHERE = "train_and_evaluate"
_LOCAL = "local"  # the original's name for a process without a cluster, which TF_CONFIG must not use
_DELAY_OF_EACH, _LONGEST_DELAY = 5, 60
_LOOK_EVERY, _LOOK_EVERY_FAR = 0.5, 10.0
_GRACE = 2.0


def check_role(config: RunConfig) -> bool:
    """Whether this process has one part of several; a `master` trains and evaluates, as a process by itself does.

    Raises:
        UsageError: a part that there is not.
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
        start_server(config, may_be_there=False)
    return task_type != MASTER


def play(
    estimator: Any, train_spec: TrainSpec, rounds: Rounds, observers: Sequence[EvaluationObserver]
) -> TrainAndEvaluateResult:
    """Plays this process's part to its end."""
    config: RunConfig = estimator.config
    if config.task_type == PS:
        serve(config, estimator.model_dir)
    if config.task_type == EVALUATOR:
        return follow(estimator, train_spec.max_steps, rounds, observers)
    if not config.is_chief:
        if not trains_together(config.train_distribute):
            _delay(config)
    else:
        logger.info("This process is the chief of a cluster: it trains, and evaluating is the evaluator's work.")
    asked = _StopsWhenAsked(estimator.model_dir)
    saves = config.is_chief and (config.save_checkpoints_steps or config.save_checkpoints_secs)
    estimator.train(
        input_fn=train_spec.input_fn,
        max_steps=train_spec.max_steps,
        hooks=list(train_spec.hooks),
        saving_listeners=(*train_spec.saving_listeners, *([asked] if saves else [])),
    )
    if config.is_chief:
        _say_finished(estimator, train_spec.max_steps, asked.reason)
    return rounds.result("This process trained only.")


def serve(config: RunConfig, model_dir: str) -> None:
    """Serves variables until the chief says that the training is over; then ends the process.

    The original's never ended, so that what a program does after `train_and_evaluate` never happened in a ps.

    Raises:
        SystemExit: always, with the code 0.
    """
    before = finished_in(model_dir)
    start_server(config, may_be_there=False)
    logger.info("This process is %s: it holds variables while others train.", name_of_task(config))
    pause = _LOOK_EVERY_FAR if "://" in model_dir else _LOOK_EVERY
    finished = None
    while finished is None:
        time.sleep(pause)
        finished = newly_finished(model_dir, before)
    time.sleep(_GRACE)  # workers are at their last step
    logger.info("The training has ended at step %d, and so does %s.", finished.global_step, name_of_task(config))
    raise SystemExit(0)


def leave_mark(estimator: Any, write: Callable[[str], None]) -> None:
    """Leaves a mark in the Estimator's directory; one whose verbs were replaced may have none."""
    try:
        write(os.fspath(estimator.model_dir))
    except (tf.errors.OpError, OSError, TypeError) as error:
        logger.warning("%s: how far the training is could not be noted in model_dir: %s", _WHERE, error)


def trained_step(estimator: Any) -> int | None:
    """The step of the newest checkpoint."""
    checkpoint = estimator.latest_checkpoint()
    return step_of(checkpoint) if isinstance(checkpoint, str) else None


def _delay(config: RunConfig) -> None:
    """Lets the chief begin, and workers one after the other, as the original does."""
    longest = config.experimental_max_worker_delay_secs
    seconds = min(_LONGEST_DELAY if longest is None else longest, _DELAY_OF_EACH * (config.task_id + 1))
    if seconds > 0:
        logger.info("Waiting %d secs before starting training.", seconds)
        time.sleep(seconds)


class _StopsWhenAsked(CheckpointWork):
    """Ends the training of a chief at a checkpoint, when its evaluator has asked for it."""

    def __init__(self, model_dir: str) -> None:
        self._model_dir = model_dir
        self.reason = ""

    def after_save(self, session: Any, global_step_value: Any) -> bool | None:
        self.reason = stop_asked(self._model_dir)
        if not self.reason:
            return None
        logger.info("Training stops at step %d, as the evaluator asks: %s", int(global_step_value), self.reason)
        return True


def _say_finished(estimator: Any, max_steps: Any, asked: str) -> None:
    step = trained_step(estimator)
    if step is None:
        return
    is_reached = max_steps is not None and step >= math.ceil(max_steps)
    stopped = f"max_steps={max_steps} was reached." if is_reached else asked or f"The training ended at step {step}."
    leave_mark(estimator, lambda directory: mark_finished(directory, step, stopped))
