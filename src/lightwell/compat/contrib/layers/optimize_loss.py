"""`tf.contrib.layers.optimize_loss`: gradients, their processing, and the step, in one call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError

v1 = tf.compat.v1
Pairs = list[tuple[Any, Any]]
_NORMS = ("gradient_norm", "global_gradient_norm")

OPTIMIZER_CLS_NAMES: Mapping[str, Callable[[Any], Any]] = {
    "Adagrad": v1.train.AdagradOptimizer,
    "Adam": v1.train.AdamOptimizer,
    "Ftrl": v1.train.FtrlOptimizer,
    "Momentum": lambda learning_rate: v1.train.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": v1.train.RMSPropOptimizer,
    "SGD": v1.train.GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = ["learning_rate", "loss", "gradients", *_NORMS]
_USUAL_SUMMARIES = ("loss", "learning_rate", "global_gradient_norm")


def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: float | Callable[[Pairs], Pairs] | None = None,
    learning_rate_decay_fn: Callable[[Any, Any], Any] | None = None,
    update_ops: Sequence[Any] | None = None,
    variables: Sequence[Any] | None = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Any:
    """The training step of a `model_fn`; returns the loss, whose evaluation runs the step.

        train_op = tf.contrib.layers.optimize_loss(
            loss, tf.train.get_global_step(), learning_rate=0.01, optimizer="Adam", clip_gradients=5.0)

    Args:
        loss: a scalar.
        global_step: the counter of steps; that of the graph if None.
        learning_rate: a number, which becomes the variable `OptimizeLoss/learning_rate`; a scalar tensor; or None,
            where the optimizer has one.
        optimizer: a name of `OPTIMIZER_CLS_NAMES`, a class of optimizers, a function that makes one (from the learning
            rate, or from nothing where that is None), or an optimizer.
        gradient_noise_scale: the deviation of noise that is added to gradients.
        gradient_multipliers: factors for gradients, by variables or their names (`dense/kernel:0`).
        clip_gradients: the length to which all gradients together are cut, or a function from (gradient, variable)
            pairs to such pairs.
        learning_rate_decay_fn: a function from the learning rate and the step to the learning rate.
        update_ops: operations to run before each step; those of `GraphKeys.UPDATE_OPS` if None.
        variables: what to train; all trainable variables if None.
        name: the variable scope; `OptimizeLoss` if None.
        summaries: what to write for TensorBoard, of `OPTIMIZER_SUMMARIES`.
        colocate_gradients_with_ops: whether gradients stand on the device of their operations.
        increment_global_step: whether the step is counted.

    Raises:
        UsageError: a setting is not one of those above.
    """
    loss = tf.convert_to_tensor(loss)
    if loss.shape.rank not in (0, None):
        raise UsageError(f"optimize_loss: Expected scalar shape for the loss {loss.name}, saw shape {loss.shape}.")
    wanted = _checked_summaries(summaries)
    step = v1.train.get_global_step() if global_step is None else global_step
    with v1.variable_scope(name, "OptimizeLoss", [loss, step]):
        before = list(v1.get_collection(v1.GraphKeys.UPDATE_OPS) if update_ops is None else update_ops)
        if before:
            with tf.control_dependencies(before):
                loss = tf.identity(loss)
        rate = _rate(learning_rate)
        if rate is not None and learning_rate_decay_fn is not None:
            if step is None:
                raise UsageError("optimize_loss: global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, step)
            if "learning_rate" in wanted:
                v1.summary.scalar("learning_rate", rate)
        made = _optimizer(optimizer, rate)
        pairs = made.compute_gradients(
            loss,
            list(variables) if variables is not None else v1.trainable_variables(),
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gradient_noise_scale is not None:
            pairs = [(_noisy(gradient, gradient_noise_scale), variable) for gradient, variable in pairs]
        if gradient_multipliers:
            pairs = _multiplied(pairs, gradient_multipliers)
        pairs = _clipped(pairs, clip_gradients, with_norms=any(norm in wanted for norm in _NORMS))
        _summarise(loss, pairs, wanted)
        train = made.apply_gradients(pairs, global_step=step if increment_global_step else None, name="train")
        with tf.control_dependencies([train]):
            return tf.identity(loss, name="control_dependency")


def _checked_summaries(summaries: Sequence[str] | None) -> Sequence[str]:
    wanted = _USUAL_SUMMARIES if summaries is None else summaries
    for one in wanted:
        if one not in OPTIMIZER_SUMMARIES:
            raise UsageError(
                f"optimize_loss: Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided {one}."
            )
    return wanted


def _rate(learning_rate: Any) -> Any:
    if learning_rate is None or (tf.is_tensor(learning_rate) and learning_rate.shape.rank == 0):
        return learning_rate
    if isinstance(learning_rate, float | int) and not isinstance(learning_rate, bool):
        if learning_rate < 0.0:
            raise UsageError(f"optimize_loss: Invalid learning_rate {learning_rate}.")
        initializer = v1.constant_initializer(float(learning_rate))
        return v1.get_variable("learning_rate", [], trainable=False, initializer=initializer)
    if isinstance(learning_rate, tf.Variable) and learning_rate.shape.rank == 0:
        return learning_rate
    raise UsageError(
        f"optimize_loss: Learning rate should be 0d Tensor or float. Got {learning_rate} of type {type(learning_rate)}."
    )


def _optimizer(given: Any, rate: Any) -> Any:
    if isinstance(given, str):
        if given not in OPTIMIZER_CLS_NAMES:
            raise UsageError(
                f"optimize_loss: Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided "
                f"{given}."
            )
        if rate is None:
            raise UsageError(
                f"optimize_loss: Learning rate is None, but should be specified if optimizer is string ({given})."
            )
        return OPTIMIZER_CLS_NAMES[given](rate)
    if isinstance(given, type) and issubclass(given, v1.train.Optimizer):
        if rate is None:
            raise UsageError(
                "optimize_loss: Learning rate is None, but should be specified if optimizer is class "
                f"({given.__name__})."
            )
        return given(learning_rate=rate)
    if isinstance(given, v1.train.Optimizer):
        return given
    if callable(given):
        made = given() if rate is None and not _takes_a_rate(given) else given(rate)
        if not isinstance(made, v1.train.Optimizer):
            raise UsageError(
                f"optimize_loss: Unrecognized optimizer: function should return subclass of Optimizer. Got {made}."
            )
        return made
    raise UsageError(
        "optimize_loss: Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of "
        f"Optimizer or function with one argument. Got {given}."
    )


def _takes_a_rate(function: Callable[..., Any]) -> bool:
    return any(one.default is one.empty for one in inspect.signature(function).parameters.values())


def _noisy(gradient: Any, scale: float) -> Any:
    if gradient is None:
        return None
    values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
    if isinstance(gradient, tf.IndexedSlices):
        noise = v1.truncated_normal(tf.shape(values), stddev=1.0, dtype=values.dtype) * scale
        return tf.IndexedSlices(values + noise, gradient.indices, gradient.dense_shape)
    return gradient + v1.truncated_normal(tf.shape(values), stddev=1.0, dtype=values.dtype) * scale


def _multiplied(pairs: Pairs, factors: Mapping[Any, Any]) -> Pairs:
    made = []
    by_variable = {id(key): value for key, value in factors.items() if not isinstance(key, str)}
    for gradient, variable in pairs:
        factor = by_variable.get(id(variable), factors.get(variable.name))
        if gradient is not None and factor is not None:
            number = tf.cast(factor, gradient.dtype)
            if isinstance(gradient, tf.IndexedSlices):
                gradient = tf.IndexedSlices(gradient.values * number, gradient.indices, gradient.dense_shape)
            else:
                gradient = gradient * number
        made.append((gradient, variable))
    return made


def _clipped(pairs: Pairs, clip: Any, *, with_norms: bool) -> Pairs:
    if with_norms:
        v1.summary.scalar("global_norm/gradient_norm", tf.linalg.global_norm([gradient for gradient, _ in pairs]))
    if clip is None:
        return pairs
    if isinstance(clip, float | int):
        cut, _ = tf.clip_by_global_norm([gradient for gradient, _ in pairs], clip)
        pairs = [(gradient, variable) for gradient, (_, variable) in zip(cut, pairs, strict=True)]
    elif callable(clip):
        pairs = list(clip(pairs))
    else:
        raise UsageError(f"optimize_loss: Unknown type {type(clip)} for clip_gradients.")
    if with_norms:
        norm = tf.linalg.global_norm([gradient for gradient, _ in pairs])
        v1.summary.scalar("global_norm/clipped_gradient_norm", norm)
    return pairs


def _summarise(loss: Any, pairs: Pairs, wanted: Sequence[str]) -> None:
    if "loss" in wanted:
        v1.summary.scalar("loss", loss)
    for gradient, variable in pairs:
        if gradient is None:
            continue
        values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        if "gradients" in wanted:
            v1.summary.histogram(f"gradients/{variable.name}", values)
        if "gradient_norm" in wanted:
            v1.summary.scalar(f"gradient_norm/{variable.name}", tf.linalg.global_norm([values]))
