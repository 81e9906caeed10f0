"""`conv2d_transpose`, `conv3d_transpose`: a convolution run backwards, from one place to a whole window.

Owns `ConvTranspose` and its two classes. The kernel has the output's channels before the input's.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.model.layers import settings
from lightwell.model.layers.conv import Conv
from lightwell.model.layers.functional import functional, signature


class ConvTranspose(Conv):
    """A transposed convolution over `rank` spatial axes.

    Args:
        filters: the number of channels of the output.
        kernel_size: the window's size, one number or one per spatial axis.
        strides: how many output places one input place covers.
        padding: `"valid"` for all places the window reaches, `"same"` for `size * stride` of them.
        data_format: `"channels_last"` or `"channels_first"`.
        activation: a function or its name; `None` for none.
        use_bias: whether to add a bias per filter.
        kernel_initializer: `None` for the variable scope's initializer, which is Glorot uniform unless set.
        bias_initializer: zeros unless set.
        kernel_regularizer, bias_regularizer: functions from a variable to a loss.
        activity_regularizer: a function from the output to a loss, divided by the batch size.
        kernel_constraint, bias_constraint: functions that optimizers apply to a variable after updating it.
        trainable: whether the variables are trained.
        name: the variable scope.
    """

    def call(self, inputs: Any) -> Any:
        if self.rank == 2 and self.data_format == "channels_first":
            outputs = self._run_transposed(inputs)
        else:
            outputs = self._run(inputs, self.data_format)
        return self._finish(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        places = self._places(self._spatial(input_shape))
        return self._output_shape(input_shape, places)

    def _run(self, inputs: Any, data_format: str) -> Any:
        operation = tf.nn.conv2d_transpose if self.rank == 2 else tf.nn.conv3d_transpose
        outputs = operation(
            inputs,
            self.kernel,
            self._target(inputs, data_format),
            strides=list(self.strides),
            padding=self.padding.upper(),
            data_format=settings.tensorflow_layout(data_format, self.rank),
        )
        places = self._places(_spatial(inputs.shape, data_format))
        outputs.set_shape(self._arranged(inputs.shape[0], places, data_format))
        return outputs

    def _run_transposed(self, inputs: Any) -> Any:
        """Runs with the channels moved last and back: the processor has no kernel for the other layout."""
        return tf.transpose(self._run(tf.transpose(inputs, [0, 2, 3, 1]), "channels_last"), [0, 3, 1, 2])

    def _target(self, inputs: Any, data_format: str) -> Any:
        """The shape of the output, with sizes that are not known read in the run."""
        sizes = tf.shape(inputs)
        first = 1 if data_format == "channels_last" else 2
        lengths = [
            sizes[first + axis] if length is None else length
            for axis, length in enumerate(_spatial(inputs.shape, data_format))
        ]
        return tf.stack(self._arranged(sizes[0], self._places(lengths), data_format))

    def _arranged(self, batch: Any, places: list[Any], data_format: str) -> list[Any]:
        if data_format == "channels_last":
            return [batch, *places, self.filters]
        return [batch, self.filters, *places]

    def _places(self, lengths: list[Any]) -> list[Any]:
        """The output's sizes: each input place covers a stride, and `valid` keeps the last window whole."""
        return [
            None if length is None else length * stride + (max(window - stride, 0) if self.padding == "valid" else 0)
            for length, window, stride in zip(lengths, self.kernel_size, self.strides, strict=True)
        ]

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, self.filters, channels)

    def _check_window(self, input_shape: Any) -> None:
        """Any window fits: it spreads one place instead of gathering many."""


def _spatial(shape: Any, data_format: str) -> list[Any]:
    dims: list[Any] = shape.as_list()
    return dims[1:-1] if data_format == "channels_last" else dims[2:]


@signature(without=("dilation_rate",), strides=(1, 1))
class Conv2DTranspose(ConvTranspose):
    __doc__ = (ConvTranspose.__doc__ or "").replace("`rank` spatial axes", "two spatial axes, as in an image")
    rank = 2


@signature(without=("dilation_rate",), strides=(1, 1, 1))
class Conv3DTranspose(ConvTranspose):
    __doc__ = (ConvTranspose.__doc__ or "").replace("`rank` spatial axes", "three spatial axes, as in a volume")
    rank = 3


conv2d_transpose = functional(Conv2DTranspose, "conv2d_transpose")
conv3d_transpose = functional(Conv3DTranspose, "conv3d_transpose")
