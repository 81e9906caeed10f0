"""Losses of examples, and the one number that is trained on: functions that heads share.

Owns the reductions, of both faces: `sum_over_batch_size`, `sum` and `auto` are those of Keras, `weighted_...` those of
`tf.compat.v1.losses`, which the v1 face has for defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.base.callables import arguments_of, name_of
from lightwell.errors import UsageError, WrongType
from lightwell.foreign.private_strategies import note_loss_reduction
from lightwell.model.heads.check import require_shape

SUM_OVER_BATCH_SIZE = "sum_over_batch_size"
LossFn = Callable[..., Any]

_LOSS_FN_ARGUMENTS = ("labels", "logits", "features", "loss_reduction")


def _count(losses: Any, weights: Any) -> Any:
    return tf.cast(tf.size(losses), losses.dtype)


def _total_weight(losses: Any, weights: Any) -> Any:
    return tf.reduce_sum(tf.zeros_like(losses) + weights)


def _count_of_weighted(losses: Any, weights: Any) -> Any:
    return tf.math.count_nonzero(tf.zeros_like(losses) + weights, dtype=losses.dtype)


# What the weighted sum of the losses is divided by.
_DIVISORS: dict[str, Callable[[Any, Any], Any] | None] = {
    "sum": None,
    "auto": _count,
    SUM_OVER_BATCH_SIZE: _count,
    "weighted_sum": None,
    "weighted_mean": _total_weight,
    "weighted_sum_over_batch_size": _count,
    "weighted_sum_by_nonzero_weights": _count_of_weighted,
}


def checked_reduction(loss_reduction: Any, where: str) -> str:
    """A `loss_reduction` that is known.

    Raises:
        UsageError: it is not.
    """
    if not isinstance(loss_reduction, str) or loss_reduction not in _DIVISORS:
        raise UsageError(
            f"{where}: Invalid loss_reduction: {loss_reduction}. See `tf.losses.Reduction` for valid options; a head "
            f"takes {list(_DIVISORS)}."
        )
    return str(loss_reduction)


def reduced(losses: Any, weights: Any, loss_reduction: str) -> Any:
    """One number for a batch: the weighted sum of the losses, divided as `loss_reduction` says."""
    total = tf.reduce_sum(losses * weights)
    divisor = _DIVISORS[loss_reduction]
    return total if divisor is None else tf.math.divide_no_nan(total, divisor(losses, weights))


def loss_to_train(losses: Any, weights: Any, loss_reduction: str) -> Any:
    """The same, for the loss that an optimizer is given: under a strategy it must know whether that is a sum."""
    note_loss_reduction(loss_reduction)
    return reduced(losses, weights, loss_reduction)


def checked_loss_fn(loss_fn: Any, where: str) -> LossFn | None:
    """A user's loss function, or None.

    Raises:
        UsageError: it does not take `labels` and `logits`, or asks for something that a head does not have.
        WrongType: it is not a function.
    """
    if loss_fn is None:
        return None
    if not callable(loss_fn):
        raise WrongType(f"{where}: loss_fn must be a function, got {loss_fn!r}.")
    takes = arguments_of(loss_fn)
    for needed in ("labels", "logits"):
        if not takes.accepts(needed):
            raise UsageError(
                f"{where}: loss_fn must contain argument: {needed}. Given arguments: {takes.names}. Write it as "
                f"def {name_of(loss_fn)}(labels, logits)."
            )
    unexpected = sorted(takes.required - set(_LOSS_FN_ARGUMENTS))
    if unexpected:
        raise UsageError(
            f"{where}: loss_fn has unexpected args: {unexpected}. A head can give it {list(_LOSS_FN_ARGUMENTS)}; bind "
            "others with functools.partial."
        )
    checked: LossFn = loss_fn
    return checked


def losses_from(
    loss_fn: LossFn, labels: Any, logits: Any, features: Any, loss_reduction: str, dimension: int, where: str
) -> Any:
    """What a user's loss function gives, which must be `[D0, D1, ... DN, dimension]`: one loss for each example."""
    takes = arguments_of(loss_fn)
    offered = {"features": features, "loss_reduction": loss_reduction}
    options = {name: value for name, value in offered.items() if takes.accepts(name)}
    losses = tf.convert_to_tensor(loss_fn(labels=labels, logits=logits, **options))
    text = f"{where}: loss_fn must return Tensor of shape [D0, D1, ... DN, {dimension}]."
    expected = logits.shape[:-1].concatenate(dimension)
    if not losses.shape.is_compatible_with(expected):
        raise UsageError(
            f"{text} logits_shape: {tuple(logits.shape)} loss_shape: {tuple(losses.shape)}. It gives one loss for each "
            "example, not reduced: loss_reduction of the head does that."
        )
    if losses.shape.is_fully_defined():
        return losses
    return require_shape(losses, logits, dimension, text)
