"""Layers of Keras 2 that Keras 3 dropped. Importing this module loads Keras; the doors do it on first use."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.compat.keras2.backend import local_conv1d, local_conv2d
from lightwell.errors import UsageError

keras: Any = tf.keras
_registered: Any = keras.utils.register_keras_serializable("lightwell")


@_registered
class CuDNNLSTM(keras.layers.LSTM):
    """An LSTM with the arguments of CuDNNLSTM."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(units, activation="tanh", recurrent_activation="sigmoid", **kwargs)


@_registered
class CuDNNGRU(keras.layers.GRU):
    """A GRU with the arguments of CuDNNGRU."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(units, activation="tanh", recurrent_activation="sigmoid", reset_after=True, **kwargs)


class AbstractRNNCell(keras.layers.Layer):
    """The base of a program's own cells: it defines `call(inputs, states)`, `state_size` and `output_size`."""

    def call(self, inputs: Any, states: Any) -> Any:
        """One step: returns the outputs and the next states."""
        raise NotImplementedError("A subclass of AbstractRNNCell defines call(inputs, states).")

    @property
    def state_size(self) -> Any:
        """The size of a state, or a list of sizes."""
        raise NotImplementedError("A subclass of AbstractRNNCell defines state_size.")

    @property
    def output_size(self) -> Any:
        """The size of an output."""
        raise NotImplementedError("A subclass of AbstractRNNCell defines output_size.")

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Zeros for each state."""
        if inputs is not None:
            batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
        return tf.nest.map_structure(
            lambda size: tf.zeros([batch_size, *tf.TensorShape(size).as_list()], dtype or self.compute_dtype),
            self.state_size,
        )


class _LocallyConnected(keras.layers.Layer):
    """What both have in common: arguments, weights and shapes."""

    rank = 0

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        if padding.lower() != "valid" or implementation != 1:
            raise UsageError(
                f"{type(self).__name__}(padding={padding!r}, implementation={implementation!r}): only "
                'padding="valid" and implementation=1 exist here. Pad the inputs with a ZeroPadding layer.'
            )
        self.filters = int(filters)
        self.kernel_size, self.strides = self._sizes(kernel_size), self._sizes(strides)
        self.padding, self.use_bias, self.implementation = "valid", use_bias, implementation
        self.data_format = data_format or keras.backend.image_data_format()
        self.activation = keras.activations.get(activation)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.bias_regularizer = keras.regularizers.get(bias_regularizer)
        self.kernel_constraint = keras.constraints.get(kernel_constraint)
        self.bias_constraint = keras.constraints.get(bias_constraint)

    def _sizes(self, value: Any) -> tuple[int, ...]:
        return (int(value),) * self.rank if not hasattr(value, "__len__") else tuple(int(one) for one in value)

    def _places(self, input_shape: Any) -> tuple[list[int], int]:
        is_first = self.data_format == "channels_first"
        sides = list(input_shape[2:] if is_first else input_shape[1:-1])
        if None in sides:
            raise UsageError(
                f"{type(self).__name__} has a kernel for each place of its input, so the input's shape "
                f"{tuple(input_shape)} may have no unknown side. Give the input a fixed size."
            )
        outputs = [
            (side - size) // stride + 1
            for side, size, stride in zip(sides, self.kernel_size, self.strides, strict=True)
        ]
        return outputs, input_shape[1] if is_first else input_shape[-1]

    def build(self, input_shape: Any) -> None:
        """Create the kernels, and a bias for each output."""
        self.outputs, channels = self._places(input_shape)
        places, window = 1, channels
        for output, size in zip(self.outputs, self.kernel_size, strict=True):
            places, window = places * output, window * size
        self.kernel = self.add_weight(
            name="kernel",
            shape=(places, window, self.filters),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=(*self.outputs, self.filters),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The outputs of all places."""
        kernel, is_first = tf.convert_to_tensor(self.kernel), self.data_format == "channels_first"
        if is_first:
            inputs = tf.transpose(inputs, [0, *range(2, self.rank + 2), 1])
        if self.rank == 1:
            outputs = local_conv1d(inputs, kernel, self.kernel_size, self.strides)
        else:
            outputs = local_conv2d(inputs, kernel, self.kernel_size, self.strides, self.outputs)
        outputs = tf.ensure_shape(outputs, [None, *self.outputs, self.filters])
        if self.bias is not None:
            outputs = outputs + tf.convert_to_tensor(self.bias)
        if is_first:
            outputs = tf.transpose(outputs, [0, self.rank + 1, *range(1, self.rank + 1)])
        return outputs if self.activation is None else self.activation(outputs)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        plain = ("filters", "kernel_size", "strides", "padding", "data_format", "use_bias", "implementation")
        objects = {
            "activation": keras.activations,
            "kernel_initializer": keras.initializers,
            "bias_initializer": keras.initializers,
            "kernel_regularizer": keras.regularizers,
            "bias_regularizer": keras.regularizers,
            "kernel_constraint": keras.constraints,
            "bias_constraint": keras.constraints,
        }
        own = {name: getattr(self, name) for name in plain}
        own |= {name: module.serialize(getattr(self, name)) for name, module in objects.items()}
        return {**super().get_config(), **own}


@_registered
class LocallyConnected1D(_LocallyConnected):
    """A convolution over time with a kernel of its own for each output step."""

    rank = 1


@_registered
class LocallyConnected2D(_LocallyConnected):
    """A convolution with a kernel of its own for each output pixel."""

    rank = 2


def sync_batch_normalization(**kwargs: Any) -> Any:
    """`tf.keras.layers.experimental.SyncBatchNormalization`: statistics over all replicas."""
    return keras.layers.BatchNormalization(synchronized=True, **kwargs)
