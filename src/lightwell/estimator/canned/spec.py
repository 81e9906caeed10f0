"""From logits to what a `model_fn` returns, by any head.

Owns `spec_of`: takes a head of ours, one of TensorFlow 1, or one that a package derived from either. And the refusal of
a model that several replicas cannot train together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.base.callables import arguments_of
from lightwell.errors import UsageError, WrongKind
from lightwell.model.spec import EstimatorSpec

_SPEC = "create_estimator_spec"


def spec_of(
    head: Any, *, features: Any, mode: str, labels: Any, logits: Any, train_op_fn: Callable[[Any], Any]
) -> EstimatorSpec:
    """What a head makes of logits.

    Args:
        head: the head.
        features: the batch's features.
        mode: a `ModeKeys` value.
        labels: the labels.
        logits: the logits.
        train_op_fn: takes the loss, gives the op of a training step.
    """
    spec: EstimatorSpec = getattr(head, _SPEC)(
        features=features, mode=mode, labels=labels, logits=logits, train_op_fn=train_op_fn
    )
    return spec


def checked_head(head: Any, where: str) -> Any:
    """The head that a user gave.

    Raises:
        UsageError: it is none.
    """
    make = getattr(head, _SPEC, None)
    if isinstance(head, type) or not callable(make) or not hasattr(head, "logits_dimension"):
        raise WrongKind(
            f"{where}: head must be a Head, such as tf.estimator.BinaryClassHead(), got {head!r} "
            f"({type(head).__name__}). It needs `{_SPEC}` and `logits_dimension`."
        )
    takes = arguments_of(make)
    if not takes.has_kwargs and not takes.accepts("train_op_fn"):
        raise UsageError(
            f"{where}: {_SPEC} of {type(head).__name__} does not take train_op_fn, by which a canned model trains. "
            "Add the argument, or derive from lightwell.Head, which has it."
        )
    return head


def refuse_replicas(what: str, why: str) -> None:
    """Refuses to train what steps by no gradients, of which replicas could take the mean.

    Args:
        what: what is trained, or by what.
        why: how it steps, as the rest of a sentence about it.

    Raises:
        UsageError: a strategy builds several replicas.
    """
    strategy = tf.distribute.get_strategy()
    if strategy.num_replicas_in_sync > 1:
        raise UsageError(
            f"{what} {why}, which the {strategy.num_replicas_in_sync} replicas of {type(strategy).__name__} cannot do "
            "together. Leave train_distribute out; eval_distribute may stay."
        )
