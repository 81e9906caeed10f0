"""What a verb says at its end where the input gave less than was asked for.

The numbers are those of `tf.estimator`, which says nothing of it: a training that made no step, or ended long before
its goal, and metrics of no data at all look like any others. One line each; nothing where all was as asked.
"""

from __future__ import annotations

from lightwell.engine.train import Goal, TrainOutcome
from lightwell.log import logger

_LOOK = "Check that its files or arrays have rows, and that batch(..., drop_remainder=True) leaves a batch"

_WITHOUT = {"predict": "There are no predictions", "capture": "There are no rows"}


def tell_of_training(goal: Goal, outcome: TrainOutcome) -> None:
    """Says that a training made no step, or that its data ended before its goal."""
    if outcome.loss is None:
        if outcome.data_ended:
            logger.warning(
                "train: Training with estimator made no steps. Perhaps input is empty or misspecified: input_fn gave "
                "no batch. %s.",
                _LOOK,
            )
    elif outcome.data_ended and (goal.steps or goal.max_steps):
        asked = f"steps={goal.steps}" if goal.steps else f"max_steps={goal.max_steps}"
        logger.warning(
            "train: the data of input_fn ended at step %d, before %s was reached. To go over it again and again, let "
            "input_fn repeat it: dataset.repeat().",
            outcome.global_step,
            asked,
        )


def tell_of_batches(verb: str, batches: int, steps: int | None = None) -> None:
    """Says that a run over data had none; in a line of lesser weight, that it had less than asked for.

    Args:
        verb: which verb ran.
        batches: how many batches there were.
        steps: how many were asked for; None for all.
    """
    if not batches:
        without = _WITHOUT.get(verb, "Metrics, if any, are those of no data")
        logger.warning(
            "%s: Perhaps input is empty or misspecified: input_fn gave no batch. %s. %s.", verb, without, _LOOK
        )
    elif steps is not None and batches < steps:
        logger.info("%s: the data of input_fn ended after %d of %d batches.", verb, batches, steps)
