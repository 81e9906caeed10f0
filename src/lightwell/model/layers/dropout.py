"""`dropout`: some of the inputs set to zero while training."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.model.layers.base import Layer
from lightwell.model.layers.settings import static_truth


class Dropout(Layer):
    """Sets each input to zero with probability `rate` and scales the rest, so that sums keep their size.

    Args:
        rate: the share to drop, from 0 up to but not including 1; a number or a scalar tensor.
        noise_shape: the shape of the mask; 1 shares a decision along that axis, `None` takes the input's size.
        seed: makes the mask reproducible.
        name: the layer's scope.
    """

    def __init__(
        self, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(name=name, **kwargs)
        if isinstance(rate, int | float) and not 0 <= rate <= 1:
            raise UsageError(
                f"Dropout: rate must be between 0 and 1, got {rate}. It is the share to drop: rate=0.4 keeps 60%."
            )
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed

    def call(self, inputs: Any, training: Any = False) -> Any:
        truth = static_truth(training, "training", self.name)
        if truth is None:
            return tf.cond(tf.cast(training, tf.bool), lambda: self._drop(inputs), lambda: tf.identity(inputs))
        return self._drop(inputs) if truth else tf.identity(inputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def _drop(self, inputs: Any) -> Any:
        if isinstance(self.rate, int | float):
            if self.rate == 0:
                return tf.identity(inputs)
            if self.rate == 1:
                raise UsageError(f"Dropout layer '{self.name}': rate=1 would drop everything. Pass a rate below 1.")
        return tf.nn.dropout(inputs, rate=self.rate, noise_shape=self._mask_shape(inputs), seed=self.seed)

    def _mask_shape(self, inputs: Any) -> Any:
        if self.noise_shape is None or tf.is_tensor(self.noise_shape):
            return self.noise_shape
        sizes = tf.shape(inputs)
        return tf.convert_to_tensor(
            [sizes[axis] if size is None else size for axis, size in enumerate(self.noise_shape)]
        )


def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: Any = False,
    name: str | None = None,
) -> Any:
    """Calls a new `Dropout` on `inputs`.

    Args:
        inputs: a tensor.
        rate: the share to drop.
        noise_shape: the shape of the mask.
        seed: makes the mask reproducible.
        training: whether to drop; a bool, or a scalar tensor that a run decides.
        name: the layer's scope.

    Returns:
        A tensor like `inputs`. It knows its layer as `.layer`.
    """
    return Dropout(rate, noise_shape=noise_shape, seed=seed, name=name)(inputs, training=training)
