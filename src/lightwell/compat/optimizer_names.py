"""Optimizers by name, as canned models took them: `get_optimizer_instance` of both faces.

The v1 one gives optimizers of `tf.compat.v1.train`, the v2 one those of Keras.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError

_NAMES = ("Adagrad", "Adam", "Ftrl", "RMSProp", "SGD")
_IN_V1 = {"SGD": "GradientDescentOptimizer"}
_IN_KERAS = {"RMSProp": "RMSprop"}


def get_optimizer_instance(opt: Any, learning_rate: float | None = None) -> Any:
    """An optimizer of `tf.compat.v1.train` for a name, a function that makes one, or one itself.

    Args:
        opt: `"Adagrad"`, `"Adam"`, `"Ftrl"`, `"RMSProp"`, `"SGD"`, a function without arguments, or an optimizer.
        learning_rate: needed with a name.

    Raises:
        UsageError: an unknown name, a name without a learning rate, or something that is no optimizer.
    """
    if isinstance(opt, str):
        name = _IN_V1.get(_checked(opt), f"{opt}Optimizer")
        if learning_rate is None:
            raise UsageError(f"learning_rate must be specified when opt is string; got opt={opt!r} alone.")
        return getattr(tf.compat.v1.train, name)(learning_rate=learning_rate)
    optimizer = opt() if callable(opt) else opt
    if not isinstance(optimizer, tf.compat.v1.train.Optimizer):
        raise UsageError(
            f"The given object is not an Optimizer instance. Given: {optimizer!r}. Pass one of tf.compat.v1.train, or "
            f"one of the names {_NAMES}."
        )
    return optimizer


def get_optimizer_instance_v2(opt: Any, learning_rate: float | None = None) -> Any:
    """A Keras optimizer for a name, a function that makes one, or one itself.

    Args:
        opt: as in `get_optimizer_instance`.
        learning_rate: with a name, its learning rate; the optimizer's own default if None.

    Raises:
        UsageError: an unknown name, or something that is no Keras optimizer.
    """
    optimizers = tf.keras.optimizers
    if isinstance(opt, str):
        make = getattr(optimizers, _IN_KERAS.get(_checked(opt), opt))
        return make() if learning_rate is None else make(learning_rate=learning_rate)
    optimizer = opt() if callable(opt) else opt
    if not isinstance(optimizer, optimizers.Optimizer):
        raise UsageError(
            f"The given object is not a tf.keras.optimizers.Optimizer instance. Given: {optimizer!r}. Pass one of "
            f"Keras, or one of the names {_NAMES}."
        )
    return optimizer


def _checked(name: str) -> str:
    if name not in _NAMES:
        raise UsageError(f"Unsupported optimizer name: {name}. Supported names are: {_NAMES}")
    return name
