"""The evaluator of a cluster: evaluates and exports the checkpoints that other processes train.

It reads only `model_dir`, so that it may start late, end early, or be restarted without affecting the training.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.errors import CheckpointError
from lightwell.estimator.workflow.observers import EvaluationObserver
from lightwell.estimator.workflow.result import TrainAndEvaluateResult
from lightwell.estimator.workflow.rounds import Rounds
from lightwell.run.checkpoints.finished import Finished, read_stop_request, write_stop_request
from lightwell.run.checkpoints.index import exists, step_of
from lightwell.run.devices.member import finished_in

_POLL_SECS, _POLL_SECS_REMOTE = 0.5, 10.0
_STALE_SECS = 60.0
_FINISH_SECS = 10.0  # between the checkpoint of the goal and the chief's mark that it has finished


def follow(
    estimator: Any, max_steps: Any, rounds: Rounds, observers: Sequence[EvaluationObserver]
) -> TrainAndEvaluateResult:
    """Evaluates checkpoints as they come, until the training has ended and its last one is done."""
    logger.info(
        "This process is the evaluator of a cluster: it evaluates what is trained into %s.", estimator.model_dir
    )
    for observer in observers:
        observer.begin(estimator)
    end = _TrainingEnd(estimator.model_dir, max_steps)
    _start_late(rounds.start_delay, end)
    stopped = _follow(estimator, rounds, end)
    for observer in observers:
        observer.end(estimator)
    rounds.export_pending()
    return rounds.result(stopped)


class _TrainingEnd:
    """Whether the training is over.

    The mark of an earlier training may still exist. It counts if it reached the goal of this one, or if no chief
    removes it for a minute.
    """

    def __init__(self, model_dir: str, max_steps: Any) -> None:
        self._model_dir, self._max_steps = model_dir, max_steps
        self._before, self._since = finished_in(model_dir), time.monotonic()

    def reached(self, step: int | None) -> bool:
        """Whether a step reaches the goal."""
        return self._max_steps is not None and step is not None and step >= self._max_steps

    def finished(self) -> Finished | None:
        """The mark of the chief; None while it trains."""
        now = finished_in(self._model_dir)
        if now is None:
            self._before = None
        if now is None or now != self._before or self.reached(now.global_step):
            return now
        return now if time.monotonic() - self._since > _STALE_SECS else None

    def wait(self, seconds: float, pause: float) -> Finished | None:
        """Waits some seconds for the mark of the chief; None if there is none."""
        until = time.monotonic() + seconds
        while (finished := self.finished()) is None and time.monotonic() < until:
            time.sleep(min(pause, max(0.0, until - time.monotonic())))
        return finished


def _start_late(seconds: float, end: _TrainingEnd) -> None:
    """Waits for the start delay of the specs, or until the training is over."""
    if seconds > 0:
        logger.info("Waiting %f secs before starting eval.", seconds)
    end.wait(seconds, _POLL_SECS)


def _follow(estimator: Any, rounds: Rounds, end: _TrainingEnd) -> str:
    """Returns why it is over, as a sentence."""
    seen: str | None = None
    pause = _POLL_SECS_REMOTE if "://" in estimator.model_dir else _POLL_SECS
    patience = 0.0
    while True:
        finished = end.wait(patience, pause)  # before the checkpoint is read: after the mark it is the last one
        checkpoint = estimator.latest_checkpoint()
        step = None if checkpoint is None else step_of(checkpoint) or 0
        if finished is not None:
            if checkpoint is not None and step is not None:
                _try_evaluation(rounds.at_the_end, step, checkpoint)
            return finished.stopped
        if checkpoint is None or step is None or checkpoint == seen or rounds.seconds_left() > 0:
            time.sleep(pause)
            continue
        if end.reached(step) and not patience:  # workers may be a few steps ahead: the chief saves once more
            patience = _FINISH_SECS
            continue
        seen = checkpoint
        if end.reached(step):
            if _try_evaluation(rounds.at_the_end, step, checkpoint):
                return f"The goal is reached: step {step}."
        else:
            _try_evaluation(rounds.after_checkpoint, step, checkpoint)
            _request_stop(estimator.model_dir, rounds.stop_reason)


def _request_stop(model_dir: str, reason: str) -> None:
    """Requests that the chief stops at its next checkpoint, if an observer gave a reason."""
    if reason and not read_stop_request(model_dir):
        logger.info("The chief is asked to end the training: %s", reason)
        write_stop_request(model_dir, reason)


def _try_evaluation(evaluate: Any, step: int, checkpoint: str) -> bool:
    """Evaluates; False if the training has deleted the checkpoint in the meantime."""
    try:
        evaluate(step, checkpoint)
    except (CheckpointError, tf.errors.NotFoundError):
        if exists(checkpoint):
            raise
        logger.info("Checkpoint %s was deleted before it was evaluated: it makes room for newer ones.", checkpoint)
        return False
    return True
