"""What a user may pass as an activation, initializer, regularizer or constraint: a callable, a name, or nothing.

Owns the tables of names. Takes an identifier, gives a callable or `None`. Objects of Keras are callables like any
other: nothing here imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError, WrongType

Function = Callable[..., Any]

ZEROS = tf.compat.v1.zeros_initializer()
ONES = tf.compat.v1.ones_initializer()


def activation(identifier: Any) -> Function | None:
    """Resolves an activation; `None` and `"linear"` mean none."""
    return _resolve(identifier, _activations(), "activation")


def initializer(identifier: Any) -> Any:
    """Resolves an initializer; `None` leaves the choice to the variable scope. An array is taken as the value."""
    if isinstance(identifier, np.ndarray):
        return tf.compat.v1.constant_initializer(identifier)
    function = _resolve(identifier, _initializers(), "initializer")
    return function() if isinstance(identifier, str) and function is not None else function


def regularizer(identifier: Any) -> Function | None:
    """Resolves a regularizer: a function from a weight to a scalar loss."""
    return _resolve(identifier, _regularizers(), "regularizer")


def constraint(identifier: Any) -> Function | None:
    """Resolves a constraint: a function from a weight to the weight it may be."""
    return _resolve(identifier, _constraints(), "constraint")


def _resolve(identifier: Any, table: Mapping[str, Function | None], what: str) -> Function | None:
    if identifier is None or callable(identifier):
        return identifier
    if not isinstance(identifier, str):
        raise WrongType(
            f"{what}: expected a callable, a name or None, got {identifier!r} of type {type(identifier).__name__}. "
            f"Pass a function, or one of the names {', '.join(sorted(table))}."
        )
    key = identifier if identifier in table else identifier.lower()
    if key not in table:
        raise UsageError(
            f"{what}: no {what} is called {identifier!r}. Known names: {', '.join(sorted(table))}. "
            "Pass the function itself for any other."
        )
    return table[key]


def _activations() -> dict[str, Function | None]:
    def exponential(x: Any) -> Any:
        return tf.exp(x)

    def hard_sigmoid(x: Any) -> Any:
        return tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)

    def mish(x: Any) -> Any:
        return x * tf.tanh(tf.nn.softplus(x))

    nn = tf.nn
    return {
        "elu": nn.elu, "exponential": exponential, "gelu": nn.gelu, "hard_sigmoid": hard_sigmoid,
        "leaky_relu": nn.leaky_relu, "linear": None, "log_softmax": nn.log_softmax, "mish": mish, "relu": nn.relu,
        "relu6": nn.relu6, "selu": nn.selu, "sigmoid": nn.sigmoid, "silu": nn.silu, "softmax": nn.softmax,
        "softplus": nn.softplus, "softsign": nn.softsign, "swish": nn.silu, "tanh": nn.tanh,
    }  # fmt: skip


def _initializers() -> dict[str, Function | None]:
    v1 = tf.compat.v1

    def scaled(scale: float, mode: str, distribution: str) -> Function:
        return lambda: v1.variance_scaling_initializer(scale=scale, mode=mode, distribution=distribution)

    def uniform() -> Any:
        return v1.random_uniform_initializer(minval=-0.05, maxval=0.05)

    def normal() -> Any:
        return v1.random_normal_initializer(stddev=0.05)

    def truncated_normal() -> Any:
        return v1.truncated_normal_initializer(stddev=0.05)

    return {
        "constant": v1.constant_initializer,
        "glorot_normal": v1.glorot_normal_initializer,
        "glorot_uniform": v1.glorot_uniform_initializer,
        "he_normal": scaled(2.0, "fan_in", "truncated_normal"),
        "he_uniform": scaled(2.0, "fan_in", "uniform"),
        "identity": v1.initializers.identity,
        "lecun_normal": scaled(1.0, "fan_in", "truncated_normal"),
        "lecun_uniform": scaled(1.0, "fan_in", "uniform"),
        "normal": normal,
        "ones": v1.ones_initializer,
        "orthogonal": v1.orthogonal_initializer,
        "random_normal": normal,
        "random_uniform": uniform,
        "truncated_normal": truncated_normal,
        "uniform": uniform,
        "variance_scaling": v1.variance_scaling_initializer,
        "zeros": v1.zeros_initializer,
    }


def _regularizers() -> dict[str, Function | None]:
    def l1(weight: Any) -> Any:
        return 0.01 * tf.reduce_sum(tf.abs(weight))

    def l2(weight: Any) -> Any:
        return 0.01 * tf.reduce_sum(tf.square(weight))

    def l1_l2(weight: Any) -> Any:
        return l1(weight) + l2(weight)

    return {"l1": l1, "l1_l2": l1_l2, "l2": l2}


def _constraints() -> dict[str, Function | None]:
    tiny = 1e-7

    def norm(weight: Any) -> Any:
        return tf.sqrt(tf.reduce_sum(tf.square(weight), axis=0, keepdims=True))

    def non_neg(weight: Any) -> Any:
        return weight * tf.cast(tf.greater_equal(weight, 0.0), weight.dtype)

    def unit_norm(weight: Any) -> Any:
        return weight / (tiny + norm(weight))

    def max_norm(weight: Any) -> Any:
        size = norm(weight)
        return weight * (tf.clip_by_value(size, 0.0, 2.0) / (tiny + size))

    return {"max_norm": max_norm, "non_neg": non_neg, "unit_norm": unit_norm}
