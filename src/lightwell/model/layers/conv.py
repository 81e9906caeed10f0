"""`conv1d`, `conv2d`, `conv3d`: one kernel moved over the input.

Owns `Conv`, the settings and the bias that all convolutions share, and the three plain ones.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType
from lightwell.model.layers import identifiers, settings
from lightwell.model.layers.base import Layer
from lightwell.model.layers.functional import functional, signature
from lightwell.model.layers.identifiers import ZEROS
from lightwell.model.layers.input_spec import InputSpec


class Conv(Layer):
    """A convolution over `rank` spatial axes.

    Args:
        filters: the number of channels of the output.
        kernel_size: the window's size, one number or one per spatial axis.
        strides: the window's step; not together with `dilation_rate` above 1.
        padding: `"valid"` for none, `"same"` to keep the size; `"causal"` in one dimension, to look only back.
        data_format: `"channels_last"` or `"channels_first"`.
        dilation_rate: the distance between the window's taps.
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

    rank = 2
    paddings: tuple[str, ...] = ("valid", "same")

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        kind = type(self).__name__
        self.filters = settings.whole_number(filters, "filters", kind, smallest=1)
        self.kernel_size = settings.whole_numbers(kernel_size, self.rank, "kernel_size", kind)
        self.strides = settings.whole_numbers(strides, self.rank, "strides", kind)
        self.padding = settings.one_of(padding, self.paddings, "padding", kind)
        self.data_format = settings.layout(data_format, kind)
        self.dilation_rate = settings.whole_numbers(dilation_rate, self.rank, "dilation_rate", kind)
        self.activation = identifiers.activation(activation)
        self.use_bias = use_bias
        self.kernel_initializer = identifiers.initializer(kernel_initializer)
        self.bias_initializer = identifiers.initializer(bias_initializer)
        self.kernel_regularizer = identifiers.regularizer(kernel_regularizer)
        self.bias_regularizer = identifiers.regularizer(bias_regularizer)
        self.kernel_constraint = identifiers.constraint(kernel_constraint)
        self.bias_constraint = identifiers.constraint(bias_constraint)
        self.input_spec = InputSpec(min_ndim=self.rank + 2)
        self._check_steps()

    def build(self, input_shape: Any) -> None:
        channels = self._input_channels(input_shape)
        self._check_window(input_shape)
        self.kernel = self.add_weight(
            "kernel",
            self._kernel_shape(channels),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            trainable=True,
        )
        self._build_bias()
        self.built = True

    def call(self, inputs: Any) -> Any:
        padding = self.padding.upper()
        if self.padding == "causal":
            inputs, padding = self._pad_past(inputs), "VALID"
        outputs = tf.nn.convolution(
            inputs,
            self.kernel,
            strides=list(self.strides),
            padding=padding,
            data_format=settings.tensorflow_layout(self.data_format, self.rank),
            dilations=list(self.dilation_rate),
            name=type(self).__name__,
        )
        return self._finish(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        places = [
            settings.output_length(length, window, self.padding, stride, dilation)
            for length, window, stride, dilation in zip(
                self._spatial(input_shape), self.kernel_size, self.strides, self.dilation_rate, strict=True
            )
        ]
        return self._output_shape(input_shape, places)

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, channels, self.filters)

    def _build_bias(self) -> None:
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                (self.filters,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                trainable=True,
            )

    def _finish(self, outputs: Any) -> Any:
        """Adds the bias and applies the activation."""
        if self.bias is not None:
            outputs = self._add_bias(outputs)
        return outputs if self.activation is None else self.activation(outputs)

    def _add_bias(self, outputs: Any) -> Any:
        if self.data_format == "channels_last":
            return tf.nn.bias_add(outputs, self.bias)
        if self.rank == 1:
            # BiasAdd knows no layout with one spatial axis and the channels before it.
            return outputs + tf.reshape(self.bias, (1, self.filters, 1))
        return tf.nn.bias_add(outputs, self.bias, data_format="NCHW")

    def _pad_past(self, inputs: Any) -> Any:
        missing = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        past, none = [missing, 0], [0, 0]
        return tf.pad(inputs, [none, past, none] if self.data_format == "channels_last" else [none, none, past])

    def _input_channels(self, input_shape: Any) -> int:
        """Reads the number of channels, and from then on expects it of every input."""
        if not tf.as_dtype(self.dtype or tf.float32).is_floating:
            raise WrongType(
                f"{type(self).__name__} layer '{self.name}': expected floating-point inputs, got {self.dtype}. "
                "Convert them first: tf.cast(inputs, tf.float32)."
            )
        shape = tf.TensorShape(input_shape)
        axis = settings.channel_axis(self.data_format)
        channels = None if shape.rank is None else shape.as_list()[axis]
        if channels is None:
            raise UsageError(
                f"{type(self).__name__} layer '{self.name}': the number of channels (axis {axis}) of its inputs must "
                f"be known, as the kernel depends on it; got shape {shape}. "
                "Set it with tf.ensure_shape(inputs, [...]) or tf.reshape before the layer."
            )
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={axis: channels})
        return int(channels)

    def _spatial(self, input_shape: Any) -> list[int | None]:
        dims: list[int | None] = tf.TensorShape(input_shape).as_list()
        return dims[-self.rank - 1 : -1] if self.data_format == "channels_last" else dims[-self.rank :]

    def _output_shape(self, input_shape: Any, places: list[int | None]) -> Any:
        batch = tf.TensorShape(input_shape).as_list()[: -self.rank - 1]
        if self.data_format == "channels_last":
            return tf.TensorShape([*batch, *places, self.filters])
        return tf.TensorShape([*batch, self.filters, *places])

    def _check_steps(self) -> None:
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise UsageError(
                f"{type(self).__name__}: strides {self.strides} and dilation_rate {self.dilation_rate} cannot both be "
                "above 1. Set one of them to 1."
            )

    def _check_window(self, input_shape: Any) -> None:
        if self.padding != "valid":
            return
        spatial = self._spatial(input_shape)
        for length, window, dilation in zip(spatial, self.kernel_size, self.dilation_rate, strict=True):
            reach = (window - 1) * dilation + 1
            if length is not None and length < reach:
                raise UsageError(
                    f"{type(self).__name__} layer '{self.name}': its window covers {reach} places, but the input has "
                    f"only {length} along an axis of {spatial}. Use a smaller kernel_size or padding='same'."
                )


class Conv1D(Conv):
    __doc__ = (Conv.__doc__ or "").replace("`rank` spatial axes", "one spatial axis, as in a sequence")
    rank = 1
    paddings = ("valid", "same", "causal")


@signature(strides=(1, 1), dilation_rate=(1, 1))
class Conv2D(Conv):
    __doc__ = (Conv.__doc__ or "").replace("`rank` spatial axes", "two spatial axes, as in an image")
    rank = 2


@signature(strides=(1, 1, 1), dilation_rate=(1, 1, 1))
class Conv3D(Conv):
    __doc__ = (Conv.__doc__ or "").replace("`rank` spatial axes", "three spatial axes, as in a volume")
    rank = 3


conv1d = functional(Conv1D, "conv1d")
conv2d = functional(Conv2D, "conv2d")
conv3d = functional(Conv3D, "conv3d")
