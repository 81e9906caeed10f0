"""The evaluator of a cluster: evaluates and exports the checkpoints of a training that other processes do.

Takes what stands in `model_dir`, and nothing else, so that it may start late, end early, or be killed and started
again, and never stops the training.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.checkpoints.finished import Finished, ask_to_stop, stop_asked
from lightwell.checkpoints.index import exists, step_of
from lightwell.devices.member import finished_in
from lightwell.errors import CheckpointError
from lightwell.log import logger
from lightwell.workflow.observers import EvaluationObserver
from lightwell.workflow.result import TrainAndEvaluateResult
from lightwell.workflow.rounds import Rounds

_LOOK_EVERY, _LOOK_EVERY_FAR = 0.5, 10.0
_STALE_AFTER = 60.0
_LAST_WORD_WITHIN = 10.0  # seconds between the checkpoint of the goal and the chief's word that it has ended


def follow(
    estimator: Any, max_steps: Any, rounds: Rounds, observers: Sequence[EvaluationObserver]
) -> TrainAndEvaluateResult:
    """Evaluates checkpoints as they come, until the training has ended and its last one is done."""
    logger.info(
        "This process is the evaluator of a cluster: it evaluates what is trained into %s.", estimator.model_dir
    )
    for observer in observers:
        observer.begin(estimator)
    end = _End(estimator.model_dir, max_steps)
    _start_late(rounds.start_delay, end)
    stopped = _follow(estimator, rounds, end)
    for observer in observers:
        observer.end(estimator)
    rounds.export_what_was_held()
    return rounds.result(stopped)


class _End:
    """Whether the training is over.

    The mark of a training that ended before this one begins may still stand there: it counts if it is one of this
    goal, or if no chief takes it away for a minute.
    """

    def __init__(self, model_dir: str, max_steps: Any) -> None:
        self._model_dir, self._max_steps = model_dir, max_steps
        self._before, self._since = finished_in(model_dir), time.monotonic()

    def reached(self, step: int | None) -> bool:
        """Whether a step is that of the goal."""
        return self._max_steps is not None and step is not None and step >= self._max_steps

    def finished(self) -> Finished | None:
        """What the chief said at the end; None while it trains."""
        now = finished_in(self._model_dir)
        if now is None:
            self._before = None
        if now is None or now != self._before or self.reached(now.global_step):
            return now
        return now if time.monotonic() - self._since > _STALE_AFTER else None

    def wait(self, seconds: float, pause: float) -> Finished | None:
        """What the chief says at the end, within some seconds; None if it says nothing."""
        until = time.monotonic() + seconds
        while (finished := self.finished()) is None and time.monotonic() < until:
            time.sleep(min(pause, max(0.0, until - time.monotonic())))
        return finished


def _start_late(seconds: float, end: _End) -> None:
    """Waits as long as the specs say, or until there is nothing to wait for."""
    if seconds > 0:
        logger.info("Waiting %f secs before starting eval.", seconds)
    end.wait(seconds, _LOOK_EVERY)


def _follow(estimator: Any, rounds: Rounds, end: _End) -> str:
    """Returns why it is over, as a sentence."""
    seen: str | None = None
    pause = _LOOK_EVERY_FAR if "://" in estimator.model_dir else _LOOK_EVERY
    patience = 0.0
    while True:
        finished = end.wait(patience, pause)  # before the checkpoint is looked for: the last one is there then
        checkpoint = estimator.latest_checkpoint()
        step = None if checkpoint is None else step_of(checkpoint) or 0
        if finished is not None:
            if checkpoint is not None and step is not None:
                _evaluated(rounds.at_the_end, step, checkpoint)
            return finished.stopped
        if checkpoint is None or step is None or checkpoint == seen or rounds.seconds_left() > 0:
            time.sleep(pause)
            continue
        if end.reached(step) and not patience:  # workers may be a few steps on: the chief saves once more
            patience = _LAST_WORD_WITHIN
            continue
        seen = checkpoint
        if end.reached(step):
            if _evaluated(rounds.at_the_end, step, checkpoint):
                return f"The goal is reached: step {step}."
        else:
            _evaluated(rounds.after_checkpoint, step, checkpoint)
            _ask(estimator.model_dir, rounds.stop_reason)


def _ask(model_dir: str, reason: str) -> None:
    """Asks the chief to end, where an observer wants that; it does so at its next checkpoint."""
    if reason and not stop_asked(model_dir):
        logger.info("The chief is asked to end the training: %s", reason)
        ask_to_stop(model_dir, reason)


def _evaluated(evaluate: Any, step: int, checkpoint: str) -> bool:
    """Evaluates; False if the training has deleted the checkpoint meanwhile, for a newer one."""
    try:
        evaluate(step, checkpoint)
    except (CheckpointError, tf.errors.NotFoundError):
        if exists(checkpoint):
            raise
        logger.info("Checkpoint %s was deleted before it was evaluated: it makes room for newer ones.", checkpoint)
        return False
    return True
