"""Optimizers of TensorFlow 1 in `model.compile`, which Keras 3 refuses: programs that convert the model wrote them."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf


def taking_v1_optimizers(get: Any) -> Any:
    """`keras.optimizers.get`, which `compile` asks, that gives an optimizer of `tf.compat.v1.train` back as it is."""

    @functools.wraps(get)
    def get_any(identifier: Any) -> Any:
        return identifier if isinstance(identifier, tf.compat.v1.train.Optimizer) else get(identifier)

    return get_any
