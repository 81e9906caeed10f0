"""Lets `model.compile` take optimizers of TensorFlow 1, which Keras 3 refuses."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf


def taking_v1_optimizers(get: Any) -> Any:
    """Wrap `keras.optimizers.get`, which `compile` calls, so that it passes optimizers of `tf.compat.v1.train`."""

    @functools.wraps(get)
    def get_any(identifier: Any) -> Any:
        return identifier if isinstance(identifier, tf.compat.v1.train.Optimizer) else get(identifier)

    return get_any
