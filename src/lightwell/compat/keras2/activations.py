"""Activations whose formula or arguments changed with Keras 3."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from lightwell.compat.keras2.callers import is_program_calling


def hard_sigmoid(x: Any) -> Any:
    """`0.2 x + 0.5`, between 0 and 1. That of Keras 3 is `x / 6 + 0.5`."""
    return tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


@functools.cache
def registered_hard_sigmoid() -> Any:
    """`hard_sigmoid`, which a copy of a layer through its config finds again; the name alone is that of Keras 3's."""
    return tf.keras.utils.register_keras_serializable("lightwell")(hard_sigmoid)


def old_hard_sigmoid(today: Any) -> Any:
    """Wrap `hard_sigmoid` of a module, so that the program's calls get the formula of Keras 2."""

    @functools.wraps(today)
    def either(x: Any) -> Any:
        return hard_sigmoid(x) if is_program_calling() else today(x)

    return either


def naming_old_formulas(get: Any) -> Any:
    """Wrap `activations.get`, through which layers look up the name of an activation."""

    @functools.wraps(get)
    def get_activation(identifier: Any) -> Any:
        is_old = isinstance(identifier, str) and identifier == "hard_sigmoid" and is_program_calling()
        return registered_hard_sigmoid() if is_old else get(identifier)

    return get_activation


def relu_with_alpha(relu: Any) -> Any:
    """Wrap `activations.relu`, whose argument `alpha` is called `negative_slope` today."""

    @functools.wraps(relu)
    def old(x: Any, *args: Any, **kwargs: Any) -> Any:
        if "alpha" in kwargs:
            kwargs["negative_slope"] = kwargs.pop("alpha")
        return relu(x, *args, **kwargs)

    return old
