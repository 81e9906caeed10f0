"""`tf.contrib.training.create_train_op` and what it does to gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError

_v1 = tf.compat.v1
# Stands for "the global step of the graph": None means that nothing is counted.
_USE_GLOBAL_STEP = 0


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = _USE_GLOBAL_STEP,
    update_ops: Any = None,
    variables_to_train: Any = None,
    transform_grads_fn: Callable[[Any], Any] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = 1,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Any:
    """A tensor that makes a step of training when it is read, and is the loss before that step.

    Args:
        total_loss: a scalar tensor.
        optimizer: an optimizer of `tf.compat.v1.train`.
        global_step: the variable to count in; the graph's if left out, none if None.
        update_ops: operations to run before; those in `GraphKeys.UPDATE_OPS` if None.
        variables_to_train: the trainable variables if None.
        transform_grads_fn: from pairs of gradient and variable to such pairs.
        summarize_gradients: whether to write summaries of them.
        gate_gradients: as `compute_gradients` takes it.
        aggregation_method: as `compute_gradients` takes it.
        colocate_gradients_with_ops: as `compute_gradients` takes it.
        check_numerics: whether an infinite loss, or one that is no number, stops the step.
    """
    step = _v1.train.get_or_create_global_step() if global_step is _USE_GLOBAL_STEP else global_step
    waiting = set(_v1.get_collection(_v1.GraphKeys.UPDATE_OPS)) if update_ops is None else set(update_ops)
    if waiting:
        with tf.control_dependencies(list(waiting)), tf.name_scope("update_barrier"):
            barrier = tf.no_op(name="update_barrier")
        with tf.control_dependencies([barrier]):
            total_loss = tf.identity(total_loss)
    pairs = optimizer.compute_gradients(
        total_loss,
        variables_to_train,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn is not None:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        with tf.name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    update = optimizer.apply_gradients(pairs, global_step=step)
    with tf.name_scope("train_op"):
        if check_numerics:
            total_loss = tf.debugging.check_numerics(total_loss, "LossTensor is inf or nan")
        with tf.control_dependencies([update]):
            train_op = tf.identity(total_loss, name="control_dependency")
    if train_op not in _v1.get_collection_ref(_v1.GraphKeys.TRAIN_OP):
        _v1.add_to_collection(_v1.GraphKeys.TRAIN_OP, train_op)
    return train_op


def add_gradients_summaries(grads_and_vars: Sequence[tuple[Any, Any]]) -> list[Any]:
    """A histogram and the norm of each gradient, as summaries."""
    made = []
    for gradient, variable in grads_and_vars:
        if gradient is None:
            continue
        values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        made.append(_v1.summary.histogram(f"{variable.op.name}_gradient", values))
        made.append(_v1.summary.scalar(f"{variable.op.name}_gradient_norm", tf.linalg.global_norm([values])))
    return made


def clip_gradient_norms(gradients_to_variables: Sequence[tuple[Any, Any]], max_norm: float) -> list[tuple[Any, Any]]:
    """Each gradient, clipped to a norm of `max_norm`."""
    return [
        (_mapped(one, lambda part: tf.clip_by_norm(part, max_norm)), variable)
        for one, variable in gradients_to_variables
    ]


def clip_gradient_norms_fn(max_norm: float) -> Callable[[Any], Any]:
    """`clip_gradient_norms` as a function of the gradients alone."""
    return lambda gradients_to_variables: clip_gradient_norms(gradients_to_variables, max_norm)


def multiply_gradients(
    grads_and_vars: Sequence[tuple[Any, Any]], gradient_multipliers: Mapping[Any, Any]
) -> list[tuple[Any, Any]]:
    """The gradients of the variables (or names of such) that the mapping has, times what it says."""
    if not isinstance(grads_and_vars, list) or not grads_and_vars:
        raise UsageError("multiply_gradients: `grads_and_vars` must be a non-empty list.")
    if not isinstance(gradient_multipliers, dict) or not gradient_multipliers:
        raise UsageError(
            "multiply_gradients: `gradient_multipliers` is empty; it must be a dict of factors by variable."
        )
    factors = {getattr(key, "ref", lambda key=key: key)(): factor for key, factor in gradient_multipliers.items()}
    made = []
    for gradient, variable in grads_and_vars:
        factor = factors.get(variable.ref(), factors.get(variable.op.name))
        if factor is None:
            made.append((gradient, variable))
            continue
        if gradient is None:
            raise UsageError(f"multiply_gradients: Requested multiple of `None` gradient: {variable.op.name}.")
        made.append((_mapped(gradient, functools.partial(_times, factor)), variable))
    return made


def _times(factor: Any, gradient: Any) -> Any:
    return gradient * tf.cast(factor, gradient.dtype)


def _mapped(gradient: Any, change: Callable[[Any], Any]) -> Any:
    if gradient is None:
        return None
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(change(gradient.values), gradient.indices, gradient.dense_shape)
    return change(gradient)
