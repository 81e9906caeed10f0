"""Metrics of heads: objects with the methods of Keras metrics, in a graph and outside of one.

They keep plain TensorFlow variables, which every evaluation starts anew, so that the numbers are those of tf.estimator
2.15 whichever Keras is installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
_BUCKETS = 200
_TINY = 1e-6
TRAPEZOIDS = "PR by trapezoids"
OLD_RATES = "ROC with a small number"


class Metric:
    """State that batches are added to, and a value made of it.

    Args:
        name: the metric's name.
        shapes: the variables that it keeps, by name, with their shapes; all start at zero.
    """

    def __init__(self, name: str, **shapes: Sequence[int]) -> None:
        self.name = name
        self.variables = [self._kept(key, shape) for key, shape in shapes.items()]

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a batch."""
        raise NotImplementedError(f"{type(self).__name__} has no update_state: write it there.")

    def result(self) -> Any:
        """The value over all batches so far."""
        raise NotImplementedError(f"{type(self).__name__} has no result: write it there.")

    def reset_state(self) -> None:
        """Starts over; in a graph each evaluation does by itself."""
        for variable in self.variables:
            variable.assign(tf.zeros_like(variable))

    def reset_states(self) -> None:
        """As `reset_state`, which Keras called so for long."""
        self.reset_state()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a batch, and gives the value."""
        with tf.control_dependencies([] if tf.executing_eagerly() else [self.update_state(*args, **kwargs)]):
            if tf.executing_eagerly():
                self.update_state(*args, **kwargs)
            return self.result()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def _add(self, *amounts: Any) -> Any:
        """Adds to the variables, in their order."""
        done = [variable.assign_add(amount) for variable, amount in zip(self.variables, amounts, strict=True)]
        return tf.group(*done)

    @staticmethod
    def _kept(name: str, shape: Sequence[int]) -> Any:
        with tf.init_scope():
            return _v1.Variable(
                tf.zeros(shape),
                trainable=False,
                collections=[_v1.GraphKeys.LOCAL_VARIABLES, _v1.GraphKeys.METRIC_VARIABLES],
                name=name,
                use_resource=True,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            )


class Mean(Metric):
    """The weighted mean of values."""

    def __init__(self, name: str) -> None:
        super().__init__(name, total=(), count=())

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        values = tf.cast(values, tf.float32)
        weights = _weights(sample_weight, values)
        return self._add(tf.reduce_sum(values * weights), tf.reduce_sum(weights))

    def result(self) -> Any:
        total, count = (variable.read_value() for variable in self.variables)
        return tf.math.divide_no_nan(total, count)


class Accuracy(Metric):
    """How often predictions are equal to labels; with a threshold, predictions above it are 1 and others 0."""

    def __init__(self, name: str, threshold: float | None = None) -> None:
        super().__init__(name, hits=(), others=())
        self.threshold = threshold

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        predicted = y_pred if self.threshold is None else y_pred > self.threshold
        hits = tf.equal(y_true, tf.cast(predicted, y_true.dtype))
        weights = _weights(sample_weight, tf.cast(hits, tf.float32))
        return self._add(_sum_where(hits, weights), _sum_where(~hits, weights))

    def result(self) -> Any:
        hits, others = (variable.read_value() for variable in self.variables)
        return tf.math.divide_no_nan(hits, hits + others)


class Baseline(Mean):
    """The accuracy of always saying the more frequent of two labels; takes the labels."""

    def result(self) -> Any:
        share = super().result()
        return tf.maximum(share, 1.0 - share)


class Precision(Metric):
    """The share of true ones among what was predicted above the threshold."""

    def __init__(self, name: str, threshold: float = 0.5) -> None:
        super().__init__(name, hits=(), others=())
        self.threshold = threshold

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        labels, above, weights = self._compared(y_true, y_pred, sample_weight)
        return self._add(_sum_where(labels & above, weights), _sum_where(~labels & above, weights))

    def result(self) -> Any:
        hits, others = (variable.read_value() for variable in self.variables)
        return tf.math.divide_no_nan(hits, hits + others)

    def _compared(self, y_true: Any, y_pred: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        predictions = tf.cast(y_pred, tf.float32)
        return tf.cast(y_true, tf.bool), predictions > self.threshold, _weights(sample_weight, predictions)


class Recall(Precision):
    """The share of what was predicted above the threshold among true ones."""

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        labels, above, weights = self._compared(y_true, y_pred, sample_weight)
        return self._add(_sum_where(labels & above, weights), _sum_where(labels & ~above, weights))


class AUC(Metric):
    """The area under a curve over 200 thresholds: that of rates (`ROC`), or of precision over recall (`PR`).

    In TensorFlow 1 the latter was one of trapezoids, which is too large (`PR by trapezoids`), and a small number kept
    the rates from a division by zero (`ROC with a small number`): without a positive label the area is 1 there.

    It counts true and false labels by bucket of their prediction; a threshold is the lower edge of a bucket, and what
    lies above it is the sum of the buckets from there on.
    """

    def __init__(self, name: str, curve: str = "ROC") -> None:
        super().__init__(name, positives=(_BUCKETS,), negatives=(_BUCKETS,))
        self.curve = curve

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        predictions = tf.cast(y_pred, tf.float32)
        weights = tf.reshape(_weights(sample_weight, predictions), [-1])
        labels = tf.reshape(tf.cast(y_true, tf.bool), [-1])
        inner = tf.clip_by_value(tf.reshape(predictions, [-1]), 0.0, 1.0) * (_BUCKETS - 1)
        buckets = tf.nn.relu(tf.cast(tf.math.ceil(inner), tf.int32) - 1)

        def counted(chosen: Any) -> Any:
            return tf.math.unsorted_segment_sum(weights * tf.cast(chosen, tf.float32), buckets, _BUCKETS)

        return self._add(counted(labels), counted(~labels))

    def result(self) -> Any:
        true, false = (tf.cumsum(variable.read_value(), reverse=True) for variable in self.variables)
        return _AREAS[self.curve](true, false)


def _area_of_rates(true: Any, false: Any) -> Any:
    """Trapezoids below the curve of the true over the false positive rate."""
    heights = tf.math.divide_no_nan(true, true[0])
    return _trapezoids(tf.math.divide_no_nan(false, false[0]), heights)


def _area_of_old_rates(true: Any, false: Any) -> Any:
    """The same as TensorFlow 1 computed it."""
    heights = (true + _TINY) / (true[0] + _TINY)
    return _trapezoids(false / (false[0] + _TINY), heights)


def _area_of_precision(true: Any, false: Any) -> Any:
    """The area below precision over recall, interpolated between thresholds as Davis and Goadrich (2006) show.

    Between two points, true and false positives grow in proportion, so precision is no straight line.
    """
    above = true + false
    gained, growth = true[:-1] - true[1:], above[:-1] - above[1:]
    slope = tf.math.divide_no_nan(gained, tf.maximum(growth, 0.0))
    start = true[1:] - slope * above[1:]
    is_inner = (above[:-1] > 0) & (above[1:] > 0)
    ratio = tf.where(is_inner, tf.math.divide_no_nan(above[:-1], tf.maximum(above[1:], 0.0)), tf.ones_like(growth))
    areas = slope * (gained + start * tf.math.log(ratio))
    return tf.reduce_sum(tf.math.divide_no_nan(areas, tf.maximum(true[0], 0.0)))


def _area_of_trapezoids(true: Any, false: Any) -> Any:
    """Trapezoids below precision over recall; where nothing is found, precision is 1."""
    recall = (true + _TINY) / (true[0] + _TINY)
    precision = (true + _TINY) / (true + false + _TINY)
    return _trapezoids(recall, precision)


def _trapezoids(places: Any, heights: Any) -> Any:
    """The area below a curve whose places fall."""
    return tf.reduce_sum((places[:-1] - places[1:]) * (heights[:-1] + heights[1:]) / 2.0)


_AREAS = {
    "ROC": _area_of_rates,
    OLD_RATES: _area_of_old_rates,
    "PR": _area_of_precision,
    TRAPEZOIDS: _area_of_trapezoids,
}


def _weights(sample_weight: Any, values: Any) -> Any:
    """A weight for each value."""
    if sample_weight is None:
        return tf.ones_like(values)
    return tf.zeros_like(values) + tf.cast(sample_weight, tf.float32)


def _sum_where(chosen: Any, weights: Any) -> Any:
    return tf.reduce_sum(tf.cast(chosen, tf.float32) * weights)
