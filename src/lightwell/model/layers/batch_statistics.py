"""Batch normalization written out, for what the fused operation does not cover.

Owns `WrittenOut`: one call of a `BatchNormalization` layer on rank-2 or grouped inputs, several channel axes, an
adjustment, or batch renormalization. Takes the layer for its variables and settings; adds its updates to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.model.layers.moving_average import move_towards


class WrittenOut:
    """One call.

    Args:
        layer: the `BatchNormalization`, built.
        inputs: the input; with a leading group axis when the layer has a `virtual_batch_size`.
        training: a bool, or a scalar bool tensor.
    """

    def __init__(self, layer: Any, inputs: Any, training: Any) -> None:
        self._layer = layer
        self._result_dtype = inputs.dtype
        if inputs.dtype in (tf.float16, tf.bfloat16):
            inputs = tf.cast(inputs, tf.float32)
        self._inputs = inputs
        self._training = training
        self._is_grouped = layer.virtual_batch_size is not None
        self._axes = [axis + 1 for axis in layer.axis] if self._is_grouped else list(layer.axis)

    def outputs(self) -> Any:
        """The normalised inputs. Adds the layer's updates, unless it is not training."""
        layer = self._layer
        gamma, beta = self._aligned(layer.gamma), self._aligned(layer.beta)
        if self._training is False:
            mean, variance = layer.moving_mean, layer.moving_variance
        else:
            gamma, beta = self._adjusted(gamma, beta)
            mean, variance = self._batch_moments()
            gamma, beta = self._learn(mean, variance, gamma, beta)
        outputs = tf.nn.batch_normalization(
            self._inputs, self._aligned(mean), self._aligned(variance), beta, gamma, layer.epsilon
        )
        if outputs.dtype != self._result_dtype:
            outputs = tf.cast(outputs, self._result_dtype)
        outputs.set_shape(self._inputs.shape)
        return outputs

    def _aligned(self, vector: Any) -> Any:
        """Shapes a vector per channel so that it lines up with the channel axis of the inputs."""
        rank = self._inputs.shape.rank
        if vector is None or vector.shape.rank != 1 or self._axes == [rank - 1]:
            return vector
        shape = [1] * rank
        shape[self._axes[0]] = self._inputs.shape[self._axes[0]]
        return tf.reshape(vector, shape)

    def _adjusted(self, gamma: Any, beta: Any) -> tuple[Any, Any]:
        if self._layer.adjustment is None:
            return gamma, beta
        scale, shift = self._layer.adjustment(tf.shape(self._inputs))
        scale = self._when_training(lambda: scale, lambda: tf.ones_like(scale))
        shift = self._when_training(lambda: shift, lambda: tf.zeros_like(shift))
        return _compose(gamma, beta, scale, shift)

    def _batch_moments(self) -> tuple[Any, Any]:
        layer = self._layer
        others = [axis for axis in range(self._inputs.shape.rank) if axis not in self._axes]
        if self._is_grouped:
            others.remove(1)
        mean, variance = tf.nn.moments(self._inputs, others, keepdims=self._is_grouped or len(self._axes) > 1)
        mean_now, variance_now = mean, variance
        mean = self._when_training(lambda: mean_now, lambda: tf.convert_to_tensor(layer.moving_mean))
        variance = self._when_training(lambda: variance_now, lambda: tf.convert_to_tensor(layer.moving_variance))
        return mean, variance

    def _learn(self, mean: Any, variance: Any, gamma: Any, beta: Any) -> tuple[Any, Any]:
        """Adds the updates of the moving averages, and applies the renormalization that goes with them."""
        layer = self._layer
        if self._is_grouped:
            mean = tf.reduce_mean(mean, axis=1, keepdims=True)
            variance = tf.reduce_mean(variance, axis=1, keepdims=True)
        if not layer.renorm:
            if layer.trainable:
                layer.add_update(self._move(layer.moving_mean, mean, layer.momentum))
                layer.add_update(self._move(layer.moving_variance, variance, layer.momentum))
            return gamma, beta
        ratio, distance, mean, variance = self._renormalised(mean, variance)
        if layer.trainable:
            layer.add_update(self._move(layer.moving_mean, mean, layer.momentum))
            layer.add_update(self._move_deviation(variance))
        return _compose(gamma, beta, self._aligned(ratio), self._aligned(distance))

    def _renormalised(self, mean: Any, variance: Any) -> tuple[Any, Any, Any, Any]:
        """The correction from batch to moving statistics, and the statistics to average once it was computed."""
        layer = self._layer
        deviation = tf.sqrt(variance + layer.epsilon)
        reference = tf.maximum(layer.renorm_stddev, tf.sqrt(layer.epsilon))
        ratio = deviation / reference
        distance = (mean - layer.renorm_mean) / reference
        with tf.control_dependencies([ratio, distance]):
            mean, deviation = tf.identity(mean), tf.identity(deviation)
        ratio, distance = self._clipped(ratio, distance)
        ratio_now, distance_now = ratio, distance
        ratio = self._when_training(lambda: ratio_now, lambda: tf.ones_like(ratio_now))
        distance = self._when_training(lambda: distance_now, lambda: tf.zeros_like(distance_now))
        moves = [
            self._move(layer.renorm_mean, mean, layer.renorm_momentum),
            self._move(layer.renorm_stddev, deviation, layer.renorm_momentum),
        ]
        with tf.control_dependencies([getattr(move, "op", move) for move in moves]):
            mean, variance = tf.identity(mean), tf.identity(variance)
        return tf.stop_gradient(ratio, "renorm_r"), tf.stop_gradient(distance, "renorm_d"), mean, variance

    def _clipped(self, ratio: Any, distance: Any) -> tuple[Any, Any]:
        limits = self._layer.renorm_clipping
        if "rmin" in limits:
            ratio = tf.maximum(ratio, limits["rmin"])
        if "rmax" in limits:
            ratio = tf.minimum(ratio, limits["rmax"])
        if "dmax" in limits:
            distance = tf.minimum(tf.maximum(distance, -limits["dmax"]), limits["dmax"])
        return ratio, distance

    def _move(self, variable: Any, value: Any, momentum: float) -> Any:
        return self._when_training(
            lambda: move_towards(variable, value, momentum), lambda: tf.convert_to_tensor(variable)
        )

    def _move_deviation(self, variance: Any) -> Any:
        """Averages deviations, as renormalization asks for, and keeps the moving variance in step with them."""
        layer = self._layer

        def update() -> Any:
            moved = move_towards(layer.moving_stddev, tf.sqrt(variance + layer.epsilon), layer.momentum)
            with tf.control_dependencies([getattr(moved, "op", moved)]):
                deviation = tf.convert_to_tensor(layer.moving_stddev)
                moving_variance = tf.nn.relu(deviation * deviation - layer.epsilon)
            return tf.compat.v1.assign(layer.moving_variance, moving_variance, name="AssignNewValue")

        return self._when_training(update, lambda: tf.convert_to_tensor(layer.moving_variance))

    def _when_training(self, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        if isinstance(self._training, bool):
            return yes() if self._training else no()
        return tf.cond(self._training, yes, no)


def _compose(gamma: Any, beta: Any, scale: Any, shift: Any) -> tuple[Any, Any]:
    """Folds `x * scale + shift` into `x * gamma + beta`."""
    if gamma is not None:
        scale, shift = scale * gamma, shift * gamma
    if beta is not None:
        shift = shift + beta
    return scale, shift
