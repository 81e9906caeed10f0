"""The training step of a head, and the summaries that it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import TRAINING_SCOPE, MetricKeys
from lightwell.errors import UsageError, WrongType
from lightwell.model.heads.penalty import total_penalty
from lightwell.model.interop.keras_scope import is_keras_optimizer
from lightwell.model.optimizers import minimize

_v1 = tf.compat.v1


def train_op_of(
    loss: Any,
    where: str,
    *,
    optimizer: Any = None,
    trainable_variables: Sequence[Any] | None = None,
    train_op_fn: Callable[[Any], Any] | None = None,
    update_ops: Sequence[Any] | None = None,
    scope: str = TRAINING_SCOPE,
) -> Any:
    """The op that makes a training step, by an optimizer or by a function of the user's.

    Args:
        loss: the loss.
        where: names the head.
        optimizer: one of Keras, of `tf_keras`, or of `tf.compat.v1.train`; the step is counted, where the graph has a
            counter.
        trainable_variables: what to train. An optimizer of Keras needs it; one of v1 trains all if None.
        train_op_fn: takes the loss, gives the op; whether it counts the step is its own business.
        update_ops: ops that run with each training step.
        scope: the name scope of its ops, after which optimizers name some of their variables.

    Raises:
        UsageError: not exactly one of `optimizer` and `train_op_fn`, or something is missing.
    """
    if optimizer is not None and train_op_fn is not None:
        raise UsageError(f"{where}: train_op_fn and optimizer cannot both be set. Leave one of them out.")
    if optimizer is None and train_op_fn is None:
        raise UsageError(
            f"{where}: train_op_fn and optimizer cannot both be None. To train, pass optimizer=... to "
            "create_estimator_spec, or train_op_fn: a function that takes the loss and gives the op."
        )
    updates = _checked_ops(update_ops, where)
    with tf.name_scope(scope):
        if train_op_fn is not None:
            train_op = train_op_fn(loss)
            if train_op is None:
                raise UsageError(
                    f"{where}: Missing train_op: train_op_fn gave None. Let it return optimizer.minimize(loss, "
                    "global_step=tf.compat.v1.train.get_global_step())."
                )
        else:
            trained = _checked_variables(optimizer, trainable_variables, where)
            counts = _v1.train.get_global_step() is not None  # a graph of one's own need not have a counter
            train_op = minimize(optimizer, loss, trained, None if counts else False)
        return tf.group(train_op, *updates) if updates else train_op


def write_summaries(loss: Any, regularization_losses: Any, key_of: Callable[[str], str], **others: Any) -> None:
    """The scalars that a training shows: the loss, `others`, and the sum of the regularisation losses.

    Args:
        loss: the loss that is trained on.
        regularization_losses: what was added to it.
        key_of: gives a summary's name in this head, for its general one.
        others: more scalars by general name.
    """
    # The others come first: the op of a summary `loss` holds the name `loss/tags`, which a head may have.
    shown = {**others, MetricKeys.LOSS: loss, MetricKeys.LOSS_REGULARIZATION: total_penalty(regularization_losses)}
    with tf.name_scope(""):
        for key, value in shown.items():
            if value is not None:
                _v1.summary.scalar(key_of(key), value)


def _checked_variables(optimizer: Any, variables: Any, where: str) -> Sequence[Any] | None:
    if not is_keras_optimizer(optimizer) and not callable(getattr(optimizer, "minimize", None)):
        way = (
            f"tf.keras.optimizers.get({optimizer!r})"
            if isinstance(optimizer, str)
            else "tf.keras.optimizers.Adam(1e-3)"
        )
        raise UsageError(
            f"{where}: The given optimizer is not a tf.keras.optimizers.Optimizer instance. Received optimizer of type "
            f"{type(optimizer)}: {optimizer!r}. Make one, for example with {way}."
        )
    if variables is None:
        if is_keras_optimizer(optimizer):
            raise UsageError(
                f"{where}: trainable_variables cannot be None. Given None. A Keras optimizer is told what to train: "
                "pass trainable_variables=model.trainable_variables, or tf.compat.v1.trainable_variables()."
            )
        return None
    if not isinstance(variables, list | tuple):
        raise UsageError(f"{where}: trainable_variables should be a list or a tuple. Given type: {type(variables)}.")
    return variables


def _checked_ops(update_ops: Any, where: str) -> Sequence[Any]:
    if update_ops is None:
        return ()
    if not isinstance(update_ops, list | tuple):
        raise UsageError(f"{where}: update_ops should be a list or a tuple. Given type: {type(update_ops)}.")
    for op in update_ops:
        if not (isinstance(op, tf.Operation | tf.Variable) or tf.is_tensor(op)):
            raise WrongType(f"{where}: update_ops must hold ops and tensors, got {op!r}.")
    return update_ops
