"""How a value is stored in a column of Arrow, and read back.

Takes fetched values (arrays, ragged and sparse values), a batch at a time; gives arrays of Arrow with an entry for each
example, and of those arrays of NumPy again, without a copy where the sizes are fixed.

- A number per example is a plain column, a vector a fixed-size list, a tensor the extension `arrow.fixed_shape_tensor`.
- Where a size is known only when the model runs, it is a list; so are ragged values, in as many levels as they have.
- A sparse value is a struct of `indices`, `values` and `shape`.
- Text is `string` if the first batch is UTF-8, else `binary`. What Arrow has no type for is stored as the next best:
  `bfloat16` as `float32`, complex numbers as pairs.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np

from lightwell.base import checked_json as checked
from lightwell.errors import UsageError

Array = np.ndarray[Any, Any]
DENSE, RAGGED, SPARSE = "dense", "ragged", "sparse"


@dataclass(frozen=True)
class Kind:
    """What one column holds.

    Attributes:
        path: the column's name.
        dtype: the type of its values, as NumPy or TensorFlow call it: `float32`, `bfloat16`, `string`.
        shape: the sizes of one example's value, None for those that differ; None if not even their number is known.
        form: dense, ragged or sparse.
    """

    path: str
    dtype: str
    shape: tuple[int | None, ...] | None
    form: str = DENSE

    @property
    def is_fixed(self) -> bool:
        """Whether all examples have values of the same sizes."""
        return self.form == DENSE and self.shape is not None and None not in self.shape

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of a value, where all examples have the same."""
        return tuple(size for size in self.shape or () if size is not None)

    @property
    def stored_dtype(self) -> np.dtype[Any]:
        """The type in which numbers are stored."""
        return np.dtype({"bfloat16": "float32", "string": "object"}.get(self.dtype, self.dtype))

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        shape = None if self.shape is None else list(self.shape)
        return {"path": self.path, "dtype": self.dtype, "shape": shape, "form": self.form}


def kind_of(path: str, tensor: Any) -> Kind:
    """The kind of a tensor of a graph, whose first dimension is the batch.

    Raises:
        UsageError: there is no column for its type.
    """
    import tensorflow as tf

    dtype = tf.as_dtype(tensor.dtype).base_dtype
    if not _has_column(dtype):
        raise UsageError(f"capture: {path!r} holds {dtype.name}, for which there is no column. Leave it out.")
    form = SPARSE if isinstance(tensor, tf.SparseTensor) else RAGGED if isinstance(tensor, tf.RaggedTensor) else DENSE
    sizes = tensor.flat_values.shape[1:] if form == RAGGED else tensor.shape[1:]
    shape = None if sizes.rank is None else tuple(sizes.as_list())
    return Kind(path, dtype.name, shape, form)


def kind_from(data: Any) -> Kind:
    """The kind that `to_dict` wrote.

    Raises:
        ValueError: it is something else.
    """
    checked.check_names(data, ("path", "dtype", "shape", "form"))
    return Kind(
        checked.field(data, "path", checked.text),
        checked.field(data, "dtype", _dtype_from),
        checked.field(data, "shape", checked.or_none(checked.all_of(checked.or_none(checked.number)))),
        checked.field(data, "form", checked.one_of(DENSE, RAGGED, SPARSE)),
    )


def _dtype_from(data: Any) -> str:
    import tensorflow as tf

    try:
        name = tf.as_dtype(checked.text(data)).name
        if name == data and _has_column(tf.as_dtype(name)) and Kind("", name, ()).stored_dtype:
            return str(name)
    except TypeError:  # of no library
        pass
    raise ValueError(f"{data!a:.60} is no type of a column")


def _has_column(dtype: Any) -> bool:
    known = dtype.is_floating or dtype.is_integer or dtype.is_bool or dtype.is_complex or dtype.name == "string"
    return bool(known and not dtype.is_quantized)


def check_arrow() -> None:
    """Says how to get what captures need where it is not installed.

    Raises:
        UsageError: it is not.
    """
    for name in ("pyarrow", "xxhash"):
        if importlib.util.find_spec(name) is None:
            raise UsageError(f'A capture needs {name}, which is not installed: pip install "lightwell[capture]".')


def to_arrow(kind: Kind, value: Any, text: bool) -> Any:
    """The values of one batch as an array of Arrow.

    Args:
        kind: what it is.
        value: as it was fetched.
        text: whether strings are text; else they are bytes.

    Raises:
        pyarrow.ArrowInvalid: text that is not UTF-8.
    """
    if kind.form == RAGGED:
        return _of_ragged(kind, value, text)
    if kind.form == SPARSE:
        return _of_sparse(kind, value, text)
    array = np.asarray(value)
    sizes = kind.shape if kind.shape is not None else (None,) * (array.ndim - 1)
    return _nested(kind, array, sizes, text)


def column_type(kind: Kind, storage: Any) -> Any:
    """The type of the column whose chunks have the type `storage`."""
    import pyarrow as pa

    if not _is_tensor(kind):
        return storage
    shape = [size for size in kind.shape or () if size is not None]
    return pa.fixed_shape_tensor(storage.value_type, [*shape, 2] if _is_complex(kind) else shape)


def is_of_kind(kind: Kind, column: Any) -> bool:
    """Whether a column of Arrow can hold values of this kind: their type, and their sizes where these are fixed."""
    import pyarrow as pa

    if kind.form == SPARSE:
        return bool(pa.types.is_struct(column.type))
    inner, levels = _storage(column).type, []
    while pa.types.is_nested(inner) and not pa.types.is_struct(inner):
        levels.append(getattr(inner, "list_size", None))
        inner = inner.value_type
    if kind.dtype == "string":
        is_type = pa.types.is_string(inner) or pa.types.is_binary(inner)
    else:
        numbers = {"complex64": "float32", "complex128": "float64"}.get(kind.dtype, kind.stored_dtype)
        is_type = inner == pa.from_numpy_dtype(np.dtype(numbers))
    if not is_type or not kind.is_fixed:
        return bool(is_type) and column is _storage(column) and (not levels or None in levels)
    if 0 in kind.sizes:
        return None in levels
    sizes = [size for size in levels if size is not None]
    expected = int(np.prod(kind.sizes, dtype=np.int64)) * (1 + _is_complex(kind))
    return len(sizes) == len(levels) and int(np.prod(sizes, dtype=np.int64)) == expected


def from_arrow(kind: Kind, column: Any) -> Array | None:
    """A column of fixed sizes as an array, without a copy (but for booleans and text); None for others."""
    if not kind.is_fixed:
        return None
    storage, count = _storage(column), len(column)
    if 0 in (kind.shape or ()):
        return np.empty((count, *(kind.shape or ())), kind.stored_dtype)
    while hasattr(storage.type, "list_size"):
        size = storage.type.list_size
        storage = storage.values.slice(
            storage.offset * size, len(storage) * size
        )  # as flatten() does, several times as fast
    return _typed(kind, storage).reshape(count, *(kind.shape or ()))


def example_of(kind: Kind, column: Any, place: int) -> Any:
    """What one example has in a column whose sizes differ: an array; nested lists, where it is ragged in several
    levels; a `SparseTensorValue`."""
    if kind.form == SPARSE:
        return _sparse_example(kind, column, place)
    entry = column.slice(place, 1)
    return _unnested(kind, entry, ())


def _of_ragged(kind: Kind, value: Any, text: bool) -> Any:
    import pyarrow as pa

    if hasattr(value, "row_splits"):
        inner = _of_ragged(kind, value.values, text)
        return pa.ListArray.from_arrays(pa.array(np.asarray(value.row_splits), pa.int32()), inner)
    array = np.asarray(value)
    return _nested(kind, array, kind.shape if kind.shape is not None else (None,) * (array.ndim - 1), text)


def _of_sparse(kind: Kind, value: Any, text: bool) -> Any:
    import pyarrow as pa

    size, rest = int(value.dense_shape[0]), np.asarray(value.dense_shape[1:], np.int64)
    order = np.argsort(value.indices[:, 0], kind="stable")
    splits = pa.array(np.searchsorted(value.indices[order, 0], np.arange(size + 1)), pa.int32())
    places = np.ascontiguousarray(value.indices[order, 1:])
    indices = pa.FixedSizeListArray.from_arrays(pa.array(places.reshape(-1)), len(rest))
    shape = pa.FixedSizeListArray.from_arrays(pa.array(np.tile(rest, size)), len(rest))
    values = _flat(kind, np.asarray(value.values)[order], text)
    lists = [pa.ListArray.from_arrays(splits, part) for part in (indices, values)]
    return pa.StructArray.from_arrays([*lists, shape], ["indices", "values", "shape"])


def _nested(kind: Kind, array: Array, sizes: tuple[int | None, ...], text: bool) -> Any:
    """Lists in lists around the elements of an array, one level for each of `sizes`."""
    import pyarrow as pa

    column = _flat(kind, array, text)
    levels: list[tuple[int | None, int]] = list(zip(sizes, array.shape[1:], strict=True))
    if _is_complex(kind):
        levels.append((2, 2))
    if _is_tensor(kind):
        whole = int(np.prod([size for _, size in levels]))
        levels = [(whole, whole)]
    around = [len(array), *(size for _, size in levels)]
    for level in reversed(range(len(levels))):
        declared, size = levels[level]
        if declared:
            column = pa.FixedSizeListArray.from_arrays(column, size)
        else:
            count = int(np.prod(around[: level + 1]))
            column = pa.ListArray.from_arrays(pa.array(np.arange(count + 1) * size, pa.int32()), column)
    return column


def _flat(kind: Kind, array: Array, text: bool) -> Any:
    import pyarrow as pa

    if kind.dtype == "string":
        return pa.array(array.reshape(-1).tolist(), pa.string() if text else pa.binary())
    flat = np.ascontiguousarray(array).reshape(-1)
    if kind.dtype == "bfloat16":
        flat = flat.astype(np.float32)
    if _is_complex(kind):
        flat = flat.view(np.float32 if kind.dtype == "complex64" else np.float64)
    return pa.array(flat)


def _is_complex(kind: Kind) -> bool:
    return kind.dtype.startswith("complex")


def _is_tensor(kind: Kind) -> bool:
    """Whether the extension for tensors holds it: of two dimensions or more, and of numbers of whole bytes."""
    rank = len(kind.shape or ()) + _is_complex(kind)
    return kind.is_fixed and rank > 1 and kind.dtype not in ("string", "bool") and 0 not in (kind.shape or ())


def _storage(column: Any) -> Any:
    return column.storage if hasattr(column, "storage") else column


def _typed(kind: Kind, flat: Any) -> Array:
    if kind.dtype in ("string", "bool"):
        return flat.to_numpy(zero_copy_only=False)
    column = flat.to_numpy(zero_copy_only=True)
    return column.view(kind.stored_dtype) if _is_complex(kind) else column


def _unnested(kind: Kind, entries: Any, sizes: tuple[int, ...]) -> Any:
    """The one value in `entries`: its sizes as far down as they are the same, then lists of what is left."""
    import pyarrow as pa

    if not pa.types.is_nested(entries.type):
        # Past the extra level of pairs, which the view of complex numbers takes in.
        shape = sizes[1:-1] if _is_complex(kind) else sizes[1:]
        return _typed(kind, entries).reshape(shape)
    if hasattr(entries.type, "list_size"):
        return _unnested(kind, entries.flatten(), (*(sizes or (1,)), entries.type.list_size))
    lengths = np.diff(entries.offsets.to_numpy())
    if len(set(lengths.tolist())) > 1:
        return [_unnested(kind, entries.slice(i, 1), ()) for i in range(len(entries))]
    length = int(lengths[0]) if len(lengths) else 0
    return _unnested(kind, entries.flatten(), (*(sizes or (1,)), length))


def _sparse_example(kind: Kind, column: Any, place: int) -> Any:
    import tensorflow as tf

    entry = column.slice(place, 1)
    indices, values, shape = (part.flatten() for part in entry.flatten())
    sizes = shape.to_numpy()
    places = indices.flatten().to_numpy().reshape(-1, len(sizes))
    return tf.compat.v1.SparseTensorValue(places, _typed(kind, values), sizes)
