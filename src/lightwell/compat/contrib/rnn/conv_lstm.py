"""LSTM cells over lines, images and volumes (Shi et al., 2015, arXiv 1506.04214)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.model.rnn_cell.base import RNNCell
from lightwell.model.rnn_cell.state import LSTMStateTuple

_v1 = tf.compat.v1


class ConvLSTMCell(RNNCell):
    """An LSTM cell with a convolution in the place of its matrix.

    Args:
        conv_ndims: 1, 2 or 3 dimensions.
        input_shape: of one example, its channels last.
        output_channels: channels of memory and output.
        kernel_shape: size of the kernel, for each dimension.
        use_bias: whether there are `biases`.
        skip_connection: whether the inputs are joined to the outputs.
        forget_bias: added to the forget gate.
        initializers: without effect.
        name: the cell's scope.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Any,
        output_channels: int,
        kernel_shape: Any,
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise UsageError(
                f"ConvLSTMCell: Invalid input_shape {input_shape} for conv_ndims={conv_ndims}: it must be the shape of "
                "an example, channels last."
            )
        self._kernel_shape = list(kernel_shape)
        self._channels = output_channels
        self._use_bias = use_bias
        self._skip = skip_connection
        self._forget_bias = forget_bias
        places = list(input_shape[:-1])
        self._of_state = tf.TensorShape([*places, output_channels])
        self._of_output = tf.TensorShape([*places, output_channels + (input_shape[-1] if skip_connection else 0)])

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._of_state, self._of_state)

    @property
    def output_size(self) -> Any:
        return self._of_output

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        memory, hidden = state
        joined = tf.concat([inputs, hidden], -1)
        shape = [*self._kernel_shape, joined.shape[-1], 4 * self._channels]
        total = tf.nn.convolution(joined, _v1.get_variable("kernel", shape, joined.dtype), padding="SAME")
        if self._use_bias:
            zeros = _v1.zeros_initializer()
            total += _v1.get_variable("biases", [4 * self._channels], joined.dtype, zeros)
        write, new, keep, show = tf.split(total, 4, axis=-1)
        memory = tf.sigmoid(keep + self._forget_bias) * memory + tf.sigmoid(write) * tf.tanh(new)
        hidden = tf.tanh(memory) * tf.sigmoid(show)
        return (tf.concat([hidden, inputs], -1) if self._skip else hidden), LSTMStateTuple(memory, hidden)


class Conv1DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` over lines."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` over images."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` over volumes."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)
