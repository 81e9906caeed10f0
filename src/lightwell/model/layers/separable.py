"""`separable_conv1d`, `separable_conv2d`: a kernel per channel, then a mix of channels at each place.

Owns `SeparableConv` and its two classes.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.model.layers import identifiers, settings
from lightwell.model.layers.conv import Conv
from lightwell.model.layers.functional import functional, signature
from lightwell.model.layers.identifiers import ZEROS


class SeparableConv(Conv):
    """A depthwise separable convolution over `rank` spatial axes.

    Args:
        filters: the number of channels of the output.
        kernel_size: the window's size, one number or one per spatial axis.
        strides: the window's step.
        padding: `"valid"` for none, `"same"` to keep the size; `"causal"` in one dimension, to look only back.
        data_format: `"channels_last"` or `"channels_first"`.
        dilation_rate: the distance between the window's taps.
        depth_multiplier: how many outputs the depthwise step gives per input channel.
        activation: a function or its name; `None` for none.
        use_bias: whether to add a bias per filter.
        depthwise_initializer, pointwise_initializer: `None` for the variable scope's initializer.
        bias_initializer: zeros unless set.
        depthwise_regularizer, pointwise_regularizer, bias_regularizer: functions from a variable to a loss.
        activity_regularizer: a function from the output to a loss, divided by the batch size.
        depthwise_constraint, pointwise_constraint, bias_constraint: functions that optimizers apply to a variable.
        trainable: whether the variables are trained.
        name: the variable scope.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
            dilation_rate=dilation_rate, activation=activation, use_bias=use_bias, bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs,
        )  # fmt: skip
        kind = type(self).__name__
        self.depth_multiplier = settings.whole_number(depth_multiplier, "depth_multiplier", kind, smallest=1)
        self.depthwise_initializer = identifiers.initializer(depthwise_initializer)
        self.pointwise_initializer = identifiers.initializer(pointwise_initializer)
        self.depthwise_regularizer = identifiers.regularizer(depthwise_regularizer)
        self.pointwise_regularizer = identifiers.regularizer(pointwise_regularizer)
        self.depthwise_constraint = identifiers.constraint(depthwise_constraint)
        self.pointwise_constraint = identifiers.constraint(pointwise_constraint)

    def build(self, input_shape: Any) -> None:
        channels = self._input_channels(input_shape)
        self._check_window(input_shape)
        between = channels * self.depth_multiplier
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel",
            (*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
            trainable=True,
        )
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel",
            (*([1] * self.rank), between, self.filters),
            initializer=self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint,
            trainable=True,
        )
        self._build_bias()
        self.built = True

    def call(self, inputs: Any) -> Any:
        if self.rank == 2:
            outputs = self._convolve(
                inputs, self.depthwise_kernel, self.pointwise_kernel, self.strides, self.dilation_rate, self.padding
            )
            return self._finish(outputs)
        return self._call_on_sequence(inputs)

    def _call_on_sequence(self, inputs: Any) -> Any:
        """Convolves a sequence as an image that is one pixel high."""
        padding = self.padding
        if padding == "causal":
            inputs, padding = self._pad_past(inputs), "valid"
        high = 1 if self.data_format == "channels_last" else 2
        image = tf.expand_dims(inputs, high)
        depthwise = tf.expand_dims(self.depthwise_kernel, 0)
        pointwise = tf.expand_dims(self.pointwise_kernel, 0)
        outputs = self._convolve(image, depthwise, pointwise, self.strides * 2, (1, *self.dilation_rate), padding)
        if self.bias is not None:
            layout = settings.tensorflow_layout(self.data_format, 2)
            outputs = tf.nn.bias_add(outputs, self.bias, data_format=layout)
        outputs = tf.squeeze(outputs, [high])
        return outputs if self.activation is None else self.activation(outputs)

    def _convolve(
        self,
        image: Any,
        depthwise: Any,
        pointwise: Any,
        strides: tuple[int, ...],
        dilations: tuple[int, ...],
        padding: str,
    ) -> Any:
        is_last = self.data_format == "channels_last"
        return tf.nn.separable_conv2d(
            image,
            depthwise,
            pointwise,
            strides=[1, *strides, 1] if is_last else [1, 1, *strides],
            padding=padding.upper(),
            data_format=settings.tensorflow_layout(self.data_format, 2),
            dilations=list(dilations),
        )


class SeparableConv1D(SeparableConv):
    __doc__ = (SeparableConv.__doc__ or "").replace("`rank` spatial axes", "one spatial axis, as in a sequence")
    rank = 1
    paddings = ("valid", "same", "causal")


@signature(strides=(1, 1), dilation_rate=(1, 1))
class SeparableConv2D(SeparableConv):
    __doc__ = (SeparableConv.__doc__ or "").replace("`rank` spatial axes", "two spatial axes, as in an image")
    rank = 2


separable_conv1d = functional(SeparableConv1D, "separable_conv1d")
separable_conv2d = functional(SeparableConv2D, "separable_conv2d")
