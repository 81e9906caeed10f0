"""First and second derivatives of a loss by the logits, of which trees grow."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1


def of_loss(loss: Any, logits: Any) -> tuple[Any, Any]:
    """The derivatives `[batch, logits]` and `[batch, logits * logits]`.

    Args:
        loss: the loss, a scalar.
        logits: `[batch, logits]`.
    """
    (first,) = _v1.gradients(loss, [logits], name="Gradients")
    number = int(logits.shape[-1])
    if number == 1:
        return first, _second(first, logits)
    rows = [_second(one, logits) for one in tf.unstack(first, number, axis=1)]
    return first, tf.reshape(tf.stack(rows, axis=1), [-1, number * number])


def of_two_classes(labels: Any, logits: Any) -> tuple[Any, Any]:
    """Those of the mean of the sigmoid cross entropy, in fewer ops.

    Args:
        labels: 0 or 1, `[batch, 1]`.
        logits: `[batch, 1]`.
    """
    probability = tf.math.reciprocal(tf.exp(-logits) + 1.0)
    share = tf.math.reciprocal(tf.cast(tf.size(probability), tf.float32))
    return (probability - labels) * share, probability * (1.0 - probability) * share


def softmax_cross_entropy(labels: Any, logits: Any) -> Any:
    """The loss of each example, `[batch, 1]`, made of ops that have second derivatives.

    Args:
        labels: the number of the class, `[batch, 1]`.
        logits: `[batch, classes]`.
    """
    tiny = 1e-15
    wanted = tf.reduce_sum(tf.one_hot(labels, int(logits.shape[-1])), axis=1)
    powers = tf.exp(logits)
    shares = powers / (tf.reduce_sum(powers, axis=1, keepdims=True) + tiny)
    share = tf.clip_by_value(tf.reduce_sum(wanted * shares, axis=1), tiny, 1.0)
    return tf.expand_dims(-tf.math.log(share), 1)


def _second(first: Any, logits: Any) -> Any:
    """The derivatives of one row of first derivatives; zeros where the loss is linear."""
    (second,) = _v1.gradients(first, [logits], name="Hessian")
    return tf.zeros_like(logits) if second is None else second
