"""Warnings about an input that ended before the requested number of steps.

`tf.estimator` reports nothing here: a training without a step, or one that ends before its goal, and metrics over no
data look like any others. Each case logs one line.
"""

from __future__ import annotations

from lightwell.base.log import logger
from lightwell.run.engine.train import Goal, TrainOutcome

_ADVICE = "Check that its files or arrays have rows, and that batch(..., drop_remainder=True) leaves a batch"

_EMPTY_RESULTS = {"predict": "There are no predictions", "capture": "There are no rows"}


def warn_of_short_training(goal: Goal, outcome: TrainOutcome) -> None:
    """Warns if a training ran no step, or if its data ended before its goal."""
    if outcome.loss is None:
        if outcome.data_ended:
            logger.warning(
                "train: Training with estimator made no steps. Perhaps input is empty or misspecified: input_fn gave "
                "no batch. %s.",
                _ADVICE,
            )
    elif outcome.data_ended and (goal.steps or goal.max_steps):
        requested = f"steps={goal.steps}" if goal.steps else f"max_steps={goal.max_steps}"
        logger.warning(
            "train: the data of input_fn ended at step %d, before %s was reached. To go over it again and again, let "
            "input_fn repeat it: dataset.repeat().",
            outcome.global_step,
            requested,
        )


def warn_of_missing_batches(verb: str, batches: int, steps: int | None = None) -> None:
    """Warns if a run had no data; logs at level INFO if it had fewer batches than requested.

    Args:
        verb: the name of the verb.
        batches: the number of batches that ran.
        steps: the requested number; None for all.
    """
    if not batches:
        consequence = _EMPTY_RESULTS.get(verb, "Metrics, if any, are those of no data")
        logger.warning(
            "%s: Perhaps input is empty or misspecified: input_fn gave no batch. %s. %s.", verb, consequence, _ADVICE
        )
    elif steps is not None and batches < steps:
        logger.info("%s: the data of input_fn ended after %d of %d batches.", verb, batches, steps)
