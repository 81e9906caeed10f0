"""`max_pooling1d` … `average_pooling3d`: the largest value, or the mean, of each window.

Owns `Pooling` and its six classes. They have no variables.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.model.layers import settings
from lightwell.model.layers.base import Layer
from lightwell.model.layers.functional import functional
from lightwell.model.layers.input_spec import InputSpec


class Pooling(Layer):
    """Pools windows over `rank` spatial axes.

    Args:
        pool_size: the window's size, one number or one per spatial axis.
        strides: the window's step, likewise.
        padding: `"valid"` for none, `"same"` to cover the borders too.
        data_format: `"channels_last"` or `"channels_first"`.
        name: the layer's scope.
    """

    rank = 2
    takes_largest = True

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        kind = type(self).__name__
        if strides is None:
            raise UsageError(
                f"{kind}: strides must be given, got None. Pass strides=pool_size for windows side by side."
            )
        super().__init__(name=name, **kwargs)
        self.pool_size = settings.whole_numbers(pool_size, self.rank, "pool_size", kind)
        self.strides = settings.whole_numbers(strides, self.rank, "strides", kind)
        self.padding = settings.one_of(padding, ("valid", "same"), "padding", kind)
        self.data_format = settings.layout(data_format, kind)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def build(self, input_shape: Any) -> None:
        shape = tf.TensorShape(input_shape)
        if self.padding == "valid" and shape.rank is not None:
            self._check_window(self._spatial(shape))
        self.built = True

    def call(self, inputs: Any) -> Any:
        if self.rank == 1:
            return self._pool_sequence(inputs)
        if self.rank == 3 and self.data_format == "channels_first":
            return self._pool_transposed(inputs, self.pool_size, self.strides)
        return self._pool(inputs, self.pool_size, self.strides, self.data_format)

    def compute_output_shape(self, input_shape: Any) -> Any:
        dims = tf.TensorShape(input_shape).as_list()
        places = [
            settings.output_length(length, window, self.padding, stride)
            for length, window, stride in zip(self._spatial(input_shape), self.pool_size, self.strides, strict=True)
        ]
        if self.data_format == "channels_last":
            return tf.TensorShape([dims[0], *places, dims[-1]])
        return tf.TensorShape([dims[0], dims[1], *places])

    def _pool(self, inputs: Any, sizes: tuple[int, ...], strides: tuple[int, ...], data_format: str) -> Any:
        is_last = data_format == "channels_last"
        arguments = {
            "ksize": [1, *sizes, 1] if is_last else [1, 1, *sizes],
            "strides": [1, *strides, 1] if is_last else [1, 1, *strides],
            "padding": self.padding.upper(),
            "data_format": settings.tensorflow_layout(data_format, len(sizes)),
        }
        if len(sizes) == 3:
            pool = tf.nn.max_pool3d if self.takes_largest else tf.nn.avg_pool3d
            return pool(inputs, name="MaxPool3D" if self.takes_largest else "AvgPool3D", **arguments)
        pool = tf.nn.max_pool2d if self.takes_largest else tf.nn.avg_pool2d
        return pool(inputs, name="MaxPool" if self.takes_largest else "AvgPool", **arguments)

    def _pool_sequence(self, inputs: Any) -> Any:
        """Pools a sequence as an image that is one pixel wide."""
        narrow = 2 if self.data_format == "channels_last" else 3
        image = tf.expand_dims(inputs, narrow)
        sizes, strides = (*self.pool_size, 1), (*self.strides, 1)
        if self.data_format == "channels_first":
            pooled = self._pool_transposed(image, sizes, strides)
        else:
            pooled = self._pool(image, sizes, strides, self.data_format)
        return tf.squeeze(pooled, narrow)

    def _pool_transposed(self, inputs: Any, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        """Pools with the channels moved last and back: the processor has no kernel for the other layout."""
        spatial = list(range(2, 2 + len(sizes)))
        inputs = tf.transpose(inputs, [0, *spatial, 1])
        pooled = self._pool(inputs, sizes, strides, "channels_last")
        return tf.transpose(pooled, [0, len(sizes) + 1, *range(1, len(sizes) + 1)])

    def _spatial(self, input_shape: Any) -> list[int | None]:
        dims: list[int | None] = tf.TensorShape(input_shape).as_list()
        return dims[1:-1] if self.data_format == "channels_last" else dims[2:]

    def _check_window(self, spatial: list[int | None]) -> None:
        for length, window in zip(spatial, self.pool_size, strict=True):
            if length is not None and length < window:
                raise UsageError(
                    f"{type(self).__name__} layer '{self.name}': its window of {self.pool_size} is larger than the "
                    f"input, whose spatial shape is {spatial}. Use a smaller pool_size or padding='same'."
                )


def _document(axes: str, taken: str) -> str:
    return (Pooling.__doc__ or "").replace(
        "Pools windows over `rank` spatial axes", f"The {taken} of each window over {axes}"
    )


class MaxPooling1D(Pooling):
    __doc__ = _document("a sequence", "largest value")
    rank, takes_largest = 1, True


class MaxPooling2D(Pooling):
    __doc__ = _document("an image", "largest value")
    rank, takes_largest = 2, True


class MaxPooling3D(Pooling):
    __doc__ = _document("a volume", "largest value")
    rank, takes_largest = 3, True


class AveragePooling1D(Pooling):
    __doc__ = _document("a sequence", "mean")
    rank, takes_largest = 1, False


class AveragePooling2D(Pooling):
    __doc__ = _document("an image", "mean")
    rank, takes_largest = 2, False


class AveragePooling3D(Pooling):
    __doc__ = _document("a volume", "mean")
    rank, takes_largest = 3, False


max_pooling1d = functional(MaxPooling1D, "max_pooling1d", shares_variables=False)
max_pooling2d = functional(MaxPooling2D, "max_pooling2d", shares_variables=False)
max_pooling3d = functional(MaxPooling3D, "max_pooling3d", shares_variables=False)
average_pooling1d = functional(AveragePooling1D, "average_pooling1d", shares_variables=False)
average_pooling2d = functional(AveragePooling2D, "average_pooling2d", shares_variables=False)
average_pooling3d = functional(AveragePooling3D, "average_pooling3d", shares_variables=False)
