"""`flatten`: all axes but the batch in one."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from lightwell.model.layers import settings
from lightwell.model.layers.base import Layer
from lightwell.model.layers.input_spec import InputSpec


class Flatten(Layer):
    """Joins all axes but the first.

    Args:
        data_format: `"channels_first"` moves the channels last before joining, so that weights trained in either layout
            fit; `None` means `"channels_last"`.
    """

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = settings.layout(data_format or "channels_last", type(self).__name__)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        rank = inputs.shape.rank
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = tf.transpose(inputs, [0, *range(2, rank), 1])
        if rank == 1:
            return tf.expand_dims(inputs, axis=-1)
        return tf.reshape(inputs, self._target(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        dims = tf.TensorShape(input_shape).as_list()
        joined = None if None in dims[1:] else math.prod(dims[1:])
        return tf.TensorShape([dims[0], joined])

    def _target(self, inputs: Any) -> Any:
        """The output's shape; at most one of its two sizes is left to the run as -1, or the batch is read there."""
        dims = [None] if inputs.shape.rank is None else inputs.shape.as_list()
        if inputs.shape.rank is not None and None not in dims[1:]:
            return tf.constant([-1 if dims[0] is None else dims[0], math.prod(dims[1:])])
        if dims[0] is not None:
            return tf.constant([dims[0], -1])
        return (tf.shape(inputs)[0], -1)


def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Any:
    """Calls a new `Flatten` on `inputs`.

    Args:
        inputs: a tensor whose first axis is the batch.
        name: the layer's scope.
        data_format: `"channels_last"` or `"channels_first"`.

    Returns:
        A tensor of two axes. It knows its layer as `.layer`.
    """
    return Flatten(data_format=data_format, name=name)(inputs)
