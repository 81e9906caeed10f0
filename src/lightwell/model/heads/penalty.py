"""Regularisation losses in a head: added to what is trained on, and shown as a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import MetricKeys
from lightwell.model.heads.metrics import Mean


def total_penalty(regularization_losses: Sequence[Any] | Any | None) -> Any:
    """The sum of the regularisation losses; None if there are none."""
    if regularization_losses is None:
        return None
    if tf.is_tensor(regularization_losses):
        return tf.reduce_sum(regularization_losses)
    losses = [tf.convert_to_tensor(loss) for loss in regularization_losses]
    return tf.add_n(losses) if losses else None


def regularized(loss: Any, regularization_losses: Any) -> Any:
    """The loss with the regularisation losses added, if there are any."""
    penalty = total_penalty(regularization_losses)
    return loss if penalty is None else loss + penalty


def penalty_metric(key: str, regularization_losses: Any) -> dict[str, Any]:
    """A new metric of the penalty by the name `key`, where regularisation losses are given at all."""
    return {} if regularization_losses is None else {key: Mean(MetricKeys.LOSS_REGULARIZATION)}


def update_penalty_metric(eval_metrics: Mapping[str, Any], key: str, regularization_losses: Any) -> None:
    """Adds a batch to the metric that `penalty_metric` made."""
    if regularization_losses is not None:
        eval_metrics[key].update_state(total_penalty(regularization_losses))
