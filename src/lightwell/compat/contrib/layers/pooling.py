"""Pooling of `tf.contrib.layers`: the largest or the mean of each window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.framework.arg_scope import add_arg_scope
from lightwell.compat.contrib.layers import windows
from lightwell.compat.contrib.layers.making import naming
from lightwell.errors import UsageError


@add_arg_scope
def max_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """The largest number of each window of an image.

    Args:
        inputs: images.
        kernel_size: the size of the window: a number, or two.
        stride: likewise.
        padding: `VALID` or `SAME`.
        data_format: `NHWC` or `NCHW`.
        outputs_collections: collections for the result.
        scope: the name scope; if None, a unique scope called `MaxPool2D`.
    """
    return _pooled(tf.nn.max_pool2d, "max_pool2d", "MaxPool2D", 2, **locals())


@add_arg_scope
def avg_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """The mean of each window of an image; see `max_pool2d`."""
    return _pooled(tf.nn.avg_pool2d, "avg_pool2d", "AvgPool2D", 2, **locals())


@add_arg_scope
def max_pool3d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """The largest number of each window of a volume; see `max_pool2d`."""
    return _pooled(tf.nn.max_pool3d, "max_pool3d", "MaxPool3D", 3, **locals())


@add_arg_scope
def avg_pool3d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """The mean of each window of a volume; see `max_pool2d`."""
    return _pooled(tf.nn.avg_pool3d, "avg_pool3d", "AvgPool3D", 3, **locals())


def _pooled(
    operation: Callable[..., Any],
    kind: str,
    name: str,
    axes: int,
    *,
    inputs: Any,
    kernel_size: Any,
    stride: Any,
    padding: str,
    data_format: str,
    outputs_collections: Any,
    scope: str | None,
) -> Any:
    with naming(kind, inputs, scope, name, outputs_collections=outputs_collections) as one:
        values = tf.convert_to_tensor(one.inputs)
        form = windows.layout(data_format, axes, kind)
        if values.shape.rank != axes + 2:
            raise UsageError(f"{kind}: expected inputs of rank {axes + 2}, got shape {values.shape}.")
        window = windows.spread(windows.sizes(kernel_size, axes, "kernel_size", kind), form)
        strides = windows.spread(windows.sizes(stride, axes, "stride", kind), form)
        title = {"max": "MaxPool", "avg": "AvgPool"}[kind[:3]] + ("" if axes == 2 else "3D")
        return one.finished(operation(values, window, strides, padding.upper(), form, name=title))
