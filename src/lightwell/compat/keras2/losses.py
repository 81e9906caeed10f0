"""Losses of Keras 2 under the names that Keras 3 dropped."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

_NEW_NAMES = {
    "kullback_leibler_divergence": "kl_divergence",
    "KLD": "kl_divergence",
    "kld": "kl_divergence",
    "logcosh": "log_cosh",
    "LogCosh": "log_cosh",
}


def by_old_names(get: Any) -> Any:
    """Wrap `losses.get` or `metrics.get`, through which `compile` looks up names."""

    @functools.wraps(get)
    def get_loss(identifier: Any) -> Any:
        if isinstance(identifier, str) and identifier in ("cosine", "cosine_proximity"):
            return cosine_proximity
        return get(_NEW_NAMES.get(identifier, identifier) if isinstance(identifier, str) else identifier)

    return get_loss


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last axis; labels of another rank are broadcast, where Keras 3 squeezes them."""
    y_pred = tf.convert_to_tensor(y_pred)
    return tf.reduce_mean(tf.math.squared_difference(y_pred, tf.cast(y_true, y_pred.dtype)), axis=-1)


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """Likewise."""
    y_pred = tf.convert_to_tensor(y_pred)
    return tf.reduce_mean(tf.abs(y_pred - tf.cast(y_true, y_pred.dtype)), axis=-1)


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """Likewise, in percent of the label."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true = tf.cast(y_true, y_pred.dtype)
    share = tf.abs((y_true - y_pred) / tf.maximum(tf.abs(y_true), tf.keras.backend.epsilon()))
    return 100.0 * tf.reduce_mean(share, axis=-1)


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """The squared difference of `log(x + 1)`."""
    y_pred = tf.convert_to_tensor(y_pred)
    small = tf.keras.backend.epsilon()
    logs = [tf.math.log(tf.maximum(value, small) + 1.0) for value in (y_pred, tf.cast(y_true, y_pred.dtype))]
    return tf.reduce_mean(tf.math.squared_difference(*logs), axis=-1)


def cosine_proximity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle between labels and predictions: of TensorFlow 1.15, where closer is larger."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true = tf.math.l2_normalize(tf.cast(y_true, y_pred.dtype), axis=axis)
    return tf.reduce_sum(y_true * tf.math.l2_normalize(y_pred, axis=axis), axis=axis)
