"""Shapes and dtypes as programs of Keras 2 read them: `shape.as_list()`, `shape[-1].value`, `tensor.get_shape()`.

Keras 3 has tuples of integers. `OldShape` is such a tuple, with the methods of `tf.TensorShape`; its integers have
`.value`, as dimensions of TensorFlow 1 had. An unknown dimension is None. A dtype is text; `OldDtype` is text that also
has the attributes of `tf.DType`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from lightwell.compat.keras2.arguments import Set
from lightwell.foreign import private_keras, private_keras2


class OldDimension(int):
    """An integer that also reads as a dimension of TensorFlow 1."""

    @property
    def value(self) -> int:
        """The integer itself."""
        return int(self)


class OldShape(tuple):  # type: ignore[type-arg]  # a shape of Keras 3 is a plain tuple
    """A shape of Keras 3 with the methods of `tf.TensorShape`."""

    def __new__(cls, dimensions: Iterable[int | None] = ()) -> OldShape:
        """The dimensions: integers, or None where one is unknown."""
        return super().__new__(cls, (None if size is None else OldDimension(size) for size in dimensions))

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        return OldShape(found) if isinstance(place, slice) else found

    def as_list(self) -> list[int | None]:
        """The dimensions in a list."""
        return [None if size is None else int(size) for size in self]

    @property
    def dims(self) -> list[tf.compat.v1.Dimension]:
        """The dimensions as TensorFlow 1 had them."""
        return [tf.compat.v1.Dimension(size) for size in self.as_list()]

    @property
    def ndims(self) -> int:
        """How many dimensions there are."""
        return len(self)

    rank = ndims

    def __getattr__(self, name: str) -> Any:
        """Everything else that a `tf.TensorShape` has: `is_fully_defined`, `merge_with`, `with_rank`, ..."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name)
        return getattr(tf.TensorShape(self.as_list()), name)


class OldDtype(str):
    """A dtype of Keras 3, which is text, with the attributes of `tf.DType`: `base_dtype`, `is_floating`, ..."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name)
        return getattr(tf.as_dtype(str(self)), name)


def mend_shapes(set_attribute: Set) -> None:
    """Let layers and symbolic tensors have shapes that programs of Keras 2 can read."""
    keras = private_keras.keras3()
    symbolic = keras.KerasTensor
    old = vars(symbolic)["shape"]
    set_attribute(symbolic, "shape", property(lambda self: OldShape(old.fget(self)), old.fset))
    set_attribute(symbolic, "get_shape", lambda self: self.shape)
    old_dtype = vars(symbolic)["dtype"]
    set_attribute(symbolic, "dtype", property(lambda self: OldDtype(old_dtype.fget(self)), old_dtype.fset))
    module = private_keras2.layer_module(keras)
    if module is not None:
        original = vars(module)[private_keras2.SHAPES_OF_A_CALL]
        set_attribute(module, private_keras2.SHAPES_OF_A_CALL, _with_old_shapes(original))


def _with_old_shapes(original: Any) -> Any:
    @functools.wraps(original)
    def shapes_of(*args: Any, **kwargs: Any) -> dict[str, Any]:
        return {name: _old(shape) for name, shape in original(*args, **kwargs).items()}

    return shapes_of


def _old(shape: Any) -> Any:
    if isinstance(shape, dict):
        return {name: _old(one) for name, one in shape.items()}
    if not isinstance(shape, list | tuple):
        return shape
    if all(size is None or isinstance(size, int) for size in shape):
        return OldShape(shape) if isinstance(shape, tuple) else shape
    return type(shape)(_old(one) for one in shape)
