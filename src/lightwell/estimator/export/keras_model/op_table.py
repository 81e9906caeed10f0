"""Ops of TensorFlow that Keras has, too: each becomes the same computation in `keras.ops`.

A row takes the op and its inputs, each a Keras tensor or an array (independent of the input), and returns a Keras
tensor, or a list for an op with several outputs. It returns `NotImplemented` for a variant of the op that Keras lacks;
the op then runs in a `TensorFlowOp`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from keras import ops

Row = Callable[..., Any]


def row_of(op_type: str) -> Row | None:
    """The function that converts ops of this type to Keras; None if there is none."""
    return _ROWS.get(op_type)


def _plain(function: Callable[..., Any]) -> Row:
    return lambda op, *inputs: function(*inputs)


def _softmax(function: Callable[..., Any]) -> Row:
    return lambda op, logits: function(logits, axis=-1)


def _reduction(function: Callable[..., Any]) -> Row:
    def row(op: tf.Operation, inputs: Any, axes: Any) -> Any:
        if not _is_fixed(axes):
            return NotImplemented
        axis = tuple(int(one) for one in np.ravel(axes))
        return function(inputs, axis=axis, keepdims=op.get_attr("keep_dims")) if axis else inputs

    return row


def _arg(function: Callable[..., Any]) -> Row:
    def row(op: tf.Operation, inputs: Any, axis: Any) -> Any:
        return function(inputs, axis=int(axis)) if _is_fixed(axis) else NotImplemented

    return row


def _reshape(op: tf.Operation, inputs: Any, shape: Any) -> Any:
    known = op.outputs[0].shape
    if known.rank is not None and sum(size is None for size in known.as_list()) <= 1:
        return ops.reshape(inputs, tuple(-1 if size is None else size for size in known.as_list()))
    return NotImplemented


def _concat(op: tf.Operation, *inputs: Any) -> Any:
    return ops.concatenate(list(inputs[:-1]), axis=int(inputs[-1])) if _is_fixed(inputs[-1]) else NotImplemented


def _bias_add(op: tf.Operation, inputs: Any, bias: Any) -> Any:
    return ops.add(inputs, bias) if op.get_attr("data_format") == b"NHWC" else NotImplemented


def _matmul(op: tf.Operation, left: Any, right: Any) -> Any:
    left = ops.transpose(left) if op.get_attr("transpose_a") else left
    return ops.matmul(left, ops.transpose(right) if op.get_attr("transpose_b") else right)


def _batch_matmul(op: tf.Operation, left: Any, right: Any) -> Any:
    left = ops.swapaxes(left, -1, -2) if op.get_attr("adj_x") else left
    return ops.matmul(left, ops.swapaxes(right, -1, -2) if op.get_attr("adj_y") else right)


def _multiply(op: tf.Operation, left: Any, right: Any) -> Any:
    if not _is_fixed(left) and not _is_fixed(right):
        return ops.multiply(left, right)
    inputs, factor = (right, left) if _is_fixed(left) else (left, right)
    # Keras takes a product with a number, or an array, for a sparse tensor: so it becomes a Keras tensor first.
    fits = factor.ndim <= len(inputs.shape) and all(
        size == 1 or size == of for size, of in zip(factor.shape[::-1], inputs.shape[::-1], strict=False)
    )
    return ops.multiply(inputs, ops.full_like(inputs, factor)) if fits else NotImplemented


def _expand_dims(op: tf.Operation, inputs: Any, axis: Any) -> Any:
    return ops.expand_dims(inputs, int(axis)) if _is_fixed(axis) else NotImplemented


def _squeeze(op: tf.Operation, inputs: Any) -> Any:
    axes = op.get_attr("squeeze_dims")
    return ops.squeeze(inputs, axis=tuple(axes)) if axes else NotImplemented


def _transpose(op: tf.Operation, inputs: Any, order: Any) -> Any:
    return ops.transpose(inputs, axes=tuple(int(axis) for axis in order)) if _is_fixed(order) else NotImplemented


def _pack(op: tf.Operation, *inputs: Any) -> Any:
    if any(map(_is_fixed, inputs)):  # Keras saves such a scalar as a number, which it cannot stack
        return NotImplemented
    return ops.stack(list(inputs), axis=op.get_attr("axis"))


def _unpack(op: tf.Operation, inputs: Any) -> Any:
    return ops.unstack(inputs, num=op.get_attr("num"), axis=op.get_attr("axis"))


def _split(op: tf.Operation, axis: Any, inputs: Any) -> Any:
    if not _is_fixed(axis) or op.get_attr("num_split") == 1:
        return NotImplemented
    return ops.split(inputs, op.get_attr("num_split"), axis=int(axis))


def _split_sizes(op: tf.Operation, inputs: Any, sizes: Any, axis: Any) -> Any:
    if not _is_fixed(axis) or not _is_fixed(sizes) or min(sizes) < 0 or len(sizes) == 1:
        return NotImplemented
    return ops.split(inputs, [int(place) for place in np.cumsum(sizes)[:-1]], axis=int(axis))


def _cast(op: tf.Operation, inputs: Any) -> Any:
    return ops.cast(inputs, op.get_attr("DstT").name)


def _gather(op: tf.Operation, params: Any, indices: Any, axis: Any) -> Any:
    if not _is_fixed(axis) or op.get_attr("batch_dims"):
        return NotImplemented
    return ops.take(params, indices, axis=int(axis))


def _one_hot(op: tf.Operation, indices: Any, depth: Any, on: Any, off: Any) -> Any:
    if not all(map(_is_fixed, (depth, on, off))) or on != 1 or off != 0:
        return NotImplemented
    return ops.one_hot(indices, int(depth), axis=op.get_attr("axis"), dtype=op.get_attr("T").name)


def _slice(op: tf.Operation, inputs: Any, begin: Any, size: Any) -> Any:
    if not _is_fixed(begin) or not _is_fixed(size):
        return NotImplemented
    return inputs[tuple(slice(int(b), None if s < 0 else int(b + s)) for b, s in zip(begin, size, strict=True))]


def _strided_slice(op: tf.Operation, inputs: Any, begin: Any, end: Any, strides: Any) -> Any:
    if not all(map(_is_fixed, (begin, end, strides))):
        return NotImplemented
    parts: list[Any] = []
    for place, (first, last, step) in enumerate(zip(begin, end, strides, strict=True)):

        def is_set(mask: str, place: int = place) -> bool:
            return bool(op.get_attr(mask) >> place & 1)

        if is_set("ellipsis_mask"):
            parts.append(Ellipsis)
        elif is_set("new_axis_mask"):
            parts.append(None)
        elif is_set("shrink_axis_mask"):
            parts.append(int(first))
        else:
            start = None if is_set("begin_mask") else int(first)
            parts.append(slice(start, None if is_set("end_mask") else int(last), int(step)))
    return inputs[tuple(parts)]


def _tile(op: tf.Operation, inputs: Any, repeats: Any) -> Any:
    return ops.tile(inputs, [int(n) for n in repeats]) if _is_fixed(repeats) else NotImplemented


def _pad(op: tf.Operation, inputs: Any, paddings: Any, value: Any = None) -> Any:
    if not _is_fixed(paddings) or not (value is None or _is_fixed(value)):
        return NotImplemented
    widths = tuple((int(before), int(after)) for before, after in paddings)
    return ops.pad(inputs, widths, mode="constant", constant_values=0 if value is None else value.item())


def _select(op: tf.Operation, condition: Any, yes: Any, no: Any) -> Any:
    return ops.where(condition, yes, no)


def _squared_difference(op: tf.Operation, left: Any, right: Any) -> Any:
    return ops.square(ops.subtract(left, right))


def _is_fixed(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic)


_ROWS: dict[str, Row] = {
    "AddN": lambda op, *inputs: functools.reduce(ops.add, inputs),
    "ArgMax": _arg(ops.argmax),
    "ArgMin": _arg(ops.argmin),
    "BatchMatMulV2": _batch_matmul,
    "BiasAdd": _bias_add,
    "Cast": _cast,
    "ConcatV2": _concat,
    "Einsum": lambda op, *inputs: ops.einsum(op.get_attr("equation").decode(), *inputs),
    "ExpandDims": _expand_dims,
    "GatherV2": _gather,
    "LeakyRelu": lambda op, inputs: ops.leaky_relu(inputs, negative_slope=op.get_attr("alpha")),
    "LogSoftmax": _softmax(ops.log_softmax),
    "MatMul": _matmul,
    "Mul": _multiply,
    "OneHot": _one_hot,
    "Pack": _pack,
    "Pad": _pad,
    "PadV2": _pad,
    "Reshape": _reshape,
    "SelectV2": _select,
    "Slice": _slice,
    "Softmax": _softmax(ops.softmax),
    "Split": _split,
    "SplitV": _split_sizes,
    "SquaredDifference": _squared_difference,
    "Squeeze": _squeeze,
    "StridedSlice": _strided_slice,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unpack": _unpack,
    **{
        name: _reduction(function)
        for name, function in {
            "All": ops.all, "Any": ops.any, "Max": ops.max, "Mean": ops.mean, "Min": ops.min, "Prod": ops.prod,
            "Sum": ops.sum,
        }.items()
    },
    **{
        name: _plain(getattr(ops, function))
        for name, function in {
            "Abs": "abs", "Acos": "arccos", "Add": "add", "AddV2": "add", "Asin": "arcsin", "Atan": "arctan",
            "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Elu": "elu", "Equal": "equal", "Erf": "erf", "Exp": "exp",
            "Expm1": "expm1", "Floor": "floor", "FloorDiv": "floor_divide", "FloorMod": "mod", "Greater": "greater",
            "GreaterEqual": "greater_equal", "IsFinite": "isfinite", "IsInf": "isinf", "IsNan": "isnan",
            "Less": "less", "LessEqual": "less_equal", "Log": "log", "Log1p": "log1p", "LogicalAnd": "logical_and",
            "LogicalNot": "logical_not", "LogicalOr": "logical_or", "Maximum": "maximum", "Minimum": "minimum",
            "Neg": "negative", "NotEqual": "not_equal", "OnesLike": "ones_like", "Pow": "power",
            "RealDiv": "divide", "Reciprocal": "reciprocal", "Relu": "relu", "Relu6": "relu6", "Round": "round",
            "Rsqrt": "rsqrt", "Selu": "selu", "Sigmoid": "sigmoid", "Sign": "sign", "Sin": "sin", "Sinh": "sinh",
            "Softplus": "softplus", "Softsign": "soft_sign", "Sqrt": "sqrt", "Square": "square",
            "StopGradient": "stop_gradient", "Sub": "subtract", "Tan": "tan", "Tanh": "tanh",
            "ZerosLike": "zeros_like",
        }.items()
        if hasattr(ops, function)  # not all releases of Keras 3 have all of them
    },
}  # fmt: skip
