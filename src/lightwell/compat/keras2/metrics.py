"""Metrics of Keras 2 that Keras 3 dropped. Importing this module loads Keras; the doors do it on first use."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

keras: Any = tf.keras


class MeanRelativeError(keras.metrics.Mean):
    """The mean of `|prediction - label| / normalizer`."""

    def __init__(self, normalizer: Any, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name=name or "mean_relative_error", dtype=dtype)
        self.normalizer = normalizer

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Add the errors of a batch; where the normalizer is 0, the error is 0."""
        y_pred = tf.convert_to_tensor(y_pred)
        error = tf.abs(y_pred - tf.cast(y_true, y_pred.dtype))
        relative = tf.math.divide_no_nan(error, tf.cast(self.normalizer, y_pred.dtype))
        return super().update_state(relative, sample_weight=sample_weight)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "normalizer": self.normalizer}


class MeanTensor(keras.metrics.Metric):
    """The mean of each element of the values of all batches."""

    def __init__(self, name: str = "mean_tensor", dtype: Any = None, shape: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.total: Any = None
        self.count: Any = None
        if shape is not None:
            self._build(tuple(shape))

    def _build(self, shape: Any) -> None:
        self.total = self.add_variable(shape=shape, initializer="zeros", name="total")
        self.count = self.add_variable(shape=shape, initializer="zeros", name="count")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Add the values of a batch, all of one shape."""
        values = tf.cast(values, self.dtype)
        if self.total is None:
            self._build(tuple(values.shape))
        weight = tf.ones_like(values)
        if sample_weight is not None:
            weight = weight * tf.cast(sample_weight, self.dtype)
        self.total.assign_add(values * weight)
        self.count.assign_add(weight)

    def result(self) -> Any:
        """The means so far.

        Raises:
            ValueError: no batch came yet.
        """
        if self.total is None:
            raise ValueError("MeanTensor does not have any value yet: call update_state(values) first.")
        return tf.math.divide_no_nan(tf.convert_to_tensor(self.total), tf.convert_to_tensor(self.count))
