"""Batch normalization where `tf.compat.v1.layers` has none of the kind: rows by the fused operation, weighted examples,
averages that are moved in place, and the average of means without its start.

Owns `ByHand`, one call of `tf.contrib.layers.batch_norm` of that kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.layers.making import Making
from lightwell.model.layers.moving_average import move_towards
from lightwell.model.layers.settings import static_truth

_ZEROS, _ONES = tf.compat.v1.zeros_initializer(), tf.compat.v1.ones_initializer()


@dataclass(eq=False)
class ByHand:
    """One call.

    Attributes:
        one: the layer's scope.
        values: the tensor to normalise, of known rank and number of channels.
        data_format: `NHWC` or `NCHW`.
        initializers, regularizers: by the names of variables.
        decay, epsilon, debias: as in `batch_norm`.
    """

    one: Making
    values: Any
    data_format: str
    initializers: Mapping[str, Any]
    regularizers: Mapping[str, Any]
    decay: float
    epsilon: float
    debias: bool

    def make(self, *, center: bool, scale: bool) -> None:
        """Makes the variables."""
        self._channels_first = self.data_format == "NCHW"
        self._size = int(self.values.shape[1 if self._channels_first else -1])
        self._beta = self._trained("beta", _ZEROS) if center else None
        self._gamma = self._trained("gamma", _ONES) if scale else None
        self._mean = self._average("moving_mean", _ZEROS)
        self._variance = self._average("moving_variance", _ONES)

    def outputs(self, is_training: Any, fused: bool, batch_weights: Any, updates_collections: Any) -> Any:
        """The normalised values. The averages move in place, or by operations in `updates_collections`."""
        truth = static_truth(is_training, "is_training", "batch_norm")
        training = tf.cast(is_training, tf.bool) if truth is None else truth
        if fused:
            normalised, mean, variance = self._fused(training)
        else:
            mean, variance = self._moments(training, batch_weights)
            normalised = self._written_out(mean, variance)
        if training is False:
            return normalised
        moves: list[Callable[[], Any]] = [
            self._debiased(mean) if self.debias else lambda: move_towards(self._mean, mean, self.decay),
            lambda: move_towards(self._variance, variance, self.decay),
        ]
        if updates_collections is None:
            return self._moved_in_place(training, normalised, moves)
        for move in moves:
            update = move() if truth is not None else _when(training, move)
            tf.compat.v1.add_to_collections(updates_collections, update)
        return normalised

    def _moved_in_place(self, training: Any, normalised: Any, moves: Any) -> Any:
        def after_moving() -> Any:
            with tf.control_dependencies([_operation(move()) for move in moves]):
                return tf.identity(normalised)

        return _either(training, after_moving, lambda: tf.identity(normalised))

    def _trained(self, name: str, initializer: Any) -> Any:
        return self.one.variable(
            name,
            [self._size],
            self._statistics_dtype(),
            self.initializers.get(name, initializer),
            self.regularizers.get(name),
        )

    def _average(self, name: str, initializer: Any) -> Any:
        return self.one.variable(
            name,
            [self._size],
            self._statistics_dtype(),
            self.initializers.get(name, initializer),
            trainable=False,
        )

    def _statistics_dtype(self) -> Any:
        dtype = self.values.dtype.base_dtype
        return tf.float32 if dtype in (tf.float16, tf.bfloat16) else dtype

    def _fused(self, training: Any) -> tuple[Any, Any, Any]:
        dtype = self._statistics_dtype()
        gamma = tf.ones([self._size], dtype) if self._gamma is None else tf.convert_to_tensor(self._gamma)
        beta = tf.zeros([self._size], dtype) if self._beta is None else tf.convert_to_tensor(self._beta)
        values, is_image = self.values, self.values.shape.rank == 4
        if not is_image:
            values = tf.reshape(values, [-1, self._size, 1, 1] if self._channels_first else [-1, 1, 1, self._size])

        def run(is_training: bool) -> Any:
            averages = {} if is_training else {"mean": self._mean, "variance": self._variance}
            return tf.compat.v1.nn.fused_batch_norm(
                values,
                gamma,
                beta,
                epsilon=self.epsilon,
                is_training=is_training,
                data_format=self.data_format,
                **averages,
            )

        outputs, mean, variance = _either(training, lambda: run(True), lambda: run(False))
        if not is_image:
            outputs = tf.reshape(outputs, tf.shape(self.values))
            outputs.set_shape(self.values.shape)
        return outputs, mean, variance

    def _moments(self, training: Any, batch_weights: Any) -> tuple[Any, Any]:
        rank = self.values.shape.rank
        channel = 1 if self._channels_first else rank - 1
        axes = [axis for axis in range(rank) if axis != channel]

        def of_batch() -> Any:
            values = tf.cast(self.values, self._statistics_dtype())
            if batch_weights is None:
                return tf.nn.moments(values, axes)
            weights = tf.reshape(tf.cast(batch_weights, values.dtype), [-1, *[1] * (rank - 1)])
            return tf.nn.weighted_moments(values, axes, weights)

        def so_far() -> Any:
            return tf.convert_to_tensor(self._mean), tf.convert_to_tensor(self._variance)

        mean, variance = _either(training, of_batch, so_far)
        return mean, variance

    def _written_out(self, mean: Any, variance: Any) -> Any:
        shape = [1, self._size, *[1] * (self.values.shape.rank - 2)] if self._channels_first else [self._size]

        def aligned(vector: Any) -> Any:
            return None if vector is None else tf.reshape(vector, shape)

        values = tf.cast(self.values, self._statistics_dtype())
        outputs = tf.nn.batch_normalization(
            values, aligned(mean), aligned(variance), aligned(self._beta), aligned(self._gamma), self.epsilon
        )
        outputs = tf.cast(outputs, self.values.dtype)
        outputs.set_shape(self.values.shape)
        return outputs

    def _debiased(self, mean: Any) -> Callable[[], Any]:
        """Moves the average of means as if it had not begun with zero; makes the two variables which that takes."""
        v1 = tf.compat.v1
        with v1.variable_scope(self._mean.op.name):
            settings = {"initializer": _ZEROS, "trainable": False}
            biased = v1.get_variable("biased", self._mean.shape, self._mean.dtype.base_dtype, **settings)
            steps = v1.get_variable("local_step", [], self._mean.dtype.base_dtype, **settings)

        def move() -> Any:
            with tf.name_scope("AssignMovingAvg"):
                moved = v1.assign_sub(biased, (biased - mean) * (1.0 - self.decay))
                counted = v1.assign_add(steps, 1.0)
                with tf.control_dependencies([_operation(moved), _operation(counted)]):
                    share = 1.0 - tf.pow(tf.cast(self.decay, steps.dtype.base_dtype), steps.read_value())
                    return v1.assign(self._mean, biased.read_value() / share)

        return move


def _when(training: Any, move: Callable[[], Any]) -> Any:
    """The update, where a run decides whether it happens."""

    def moved() -> Any:
        with tf.control_dependencies([_operation(move())]):
            return tf.constant(True)

    return tf.cond(training, moved, lambda: tf.constant(False))


def _operation(update: Any) -> Any:
    return getattr(update, "op", update)


def _either(training: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    if isinstance(training, bool):
        return yes() if training else no()
    return tf.cond(training, yes, no)
