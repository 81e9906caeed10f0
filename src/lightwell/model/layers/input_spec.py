"""What a layer expects of its inputs, and the check that says so before TensorFlow fails deep inside.

Owns `InputSpec` and `check_inputs`. Takes tensors with whatever static shape they have; unknown dimensions pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType


class InputSpec:
    """Expected dtype, rank and dimensions of one input of a layer.

    Args:
        dtype: the expected dtype, or `None` for any.
        shape: the expected shape; `None` entries match any size.
        ndim: the exact rank.
        max_ndim: the largest rank.
        min_ndim: the smallest rank.
        axes: expected sizes by axis, `{-1: 3}`.
        allow_last_axis_squeeze: kept for compatibility; a trailing dimension of 1 may be missing or extra.
        name: the input's name, when inputs come as a dict.
    """

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: Mapping[int, int | None] | None = None,
        allow_last_axis_squeeze: bool = False,
        name: str | None = None,
    ) -> None:
        self.dtype = tf.as_dtype(dtype).name if dtype is not None else None
        self.shape = tuple(tf.TensorShape(shape).as_list()) if shape is not None else None
        self.ndim = len(self.shape) if self.shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        self.allow_last_axis_squeeze = allow_last_axis_squeeze
        self.name = name

    def __repr__(self) -> str:
        shown = [f"{key}={value!r}" for key, value in vars(self).items() if value not in (None, False, {})]
        return f"InputSpec({', '.join(shown)})"

    def describe(self) -> str:
        """Says in words what is expected."""
        parts = []
        if self.ndim is not None:
            parts.append(f"{self.ndim} dimensions")
        if self.min_ndim is not None:
            parts.append(f"at least {self.min_ndim} dimensions")
        if self.max_ndim is not None:
            parts.append(f"at most {self.max_ndim} dimensions")
        if self.shape is not None:
            parts.append(f"shape {self.shape}")
        parts += [f"size {size} on axis {axis}" for axis, size in self.axes.items() if size is not None]
        if self.dtype is not None:
            parts.append(f"dtype {self.dtype}")
        return ", ".join(parts) or "any tensor"

    def accepts(self, tensor: Any) -> bool:
        """Whether `tensor` may be given, as far as its static shape tells."""
        if self.dtype is not None and tensor.dtype.base_dtype.name != self.dtype:
            return False
        if tensor.shape.rank is None:
            return True
        dims = tensor.shape.as_list()
        if self.allow_last_axis_squeeze and self.shape is not None and dims and dims[-1] == 1:
            dims = dims[:-1] if len(dims) == len(self.shape) + 1 else dims
        return self._rank_fits(len(dims)) and self._sizes_fit(dims)

    def _rank_fits(self, rank: int) -> bool:
        return (
            (self.ndim is None or rank == self.ndim)
            and (self.min_ndim is None or rank >= self.min_ndim)
            and (self.max_ndim is None or rank <= self.max_ndim)
        )

    def _sizes_fit(self, dims: Sequence[int | None]) -> bool:
        sizes = list(self.axes.items()) + list(enumerate(self.shape or ()))
        for axis, size in sizes:
            if not -len(dims) <= axis < len(dims):
                return False
            if size is not None and dims[axis] is not None and dims[axis] != size:
                return False
        return True


def check_inputs(input_spec: Any, inputs: Any, layer_name: str) -> None:
    """Raises when `inputs` cannot be what `input_spec` (one, or a list of them) describes."""
    if not input_spec:
        return
    specs = list(tf.nest.flatten(input_spec))
    tensors = list(tf.nest.flatten(inputs))
    if len(specs) != len(tensors):
        raise UsageError(
            f"layer '{layer_name}': expected {len(specs)} input tensor(s), got {len(tensors)}: {tensors}. "
            "Call the layer with one tensor per input it declares; join several with tf.concat or tf.stack."
        )
    for index, (spec, tensor) in enumerate(zip(specs, tensors, strict=True)):
        if spec is None or spec.accepts(tensor):
            continue
        kind = WrongType if spec.dtype is not None and tensor.dtype.base_dtype.name != spec.dtype else UsageError
        raise kind(
            f"layer '{layer_name}': input {index} needs {spec.describe()}; got shape {tensor.shape}, "
            f"dtype {tensor.dtype.name} ({getattr(tensor, 'name', tensor)}). "
            "Reshape the tensor before the layer, or give it the static shape it has with tf.ensure_shape."
        )
