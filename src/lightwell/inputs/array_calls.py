"""Data stays out of the graph: TensorFlow's functions that take arrays, while an `input_fn` calls them.

`Dataset.from_tensor_slices(arrays)` writes the arrays into the graph as constants; a graph is limited to 2 GB, is
copied, optimised and written to disk. While `input_fn` runs, the functions that take arrays are wrapped: each array
goes into a slot beside the graph (`arrays.py`). Afterwards the functions are put back.

Takes a graph, gives the slots of the arrays that were met. In the graph stay lists and numbers, constants that are
small, and those inside functions, such as that of `Dataset.map`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell._patches import Patches, SharedPatches
from lightwell.errors import InputFnError
from lightwell.inputs.arrays import Array, ArraySlot, tensor_of

v1 = tf.compat.v1
_LARGE_CONSTANT = 1 << 20
_SLICES = "from_tensor_slices"


@contextlib.contextmanager
def arrays_kept_out(graph: tf.Graph) -> Iterator[list[ArraySlot]]:
    """Keeps arrays out of `graph` while an `input_fn` builds in it; the list fills in the order of meeting them."""
    slots: list[ArraySlot] = []
    _collecting[graph] = slots
    try:
        with _stand_ins.applied():
            yield slots
    finally:
        del _collecting[graph]


# The graphs that an `input_fn` builds in right now, with the arrays met so far.
_collecting: dict[tf.Graph, list[ArraySlot]] = {}


def _current() -> list[ArraySlot] | None:
    """The slots to add to; none inside a map function, in another thread's graph, outside of an `input_fn`."""
    return _collecting.get(v1.get_default_graph())


def _replace(patches: Patches) -> None:
    # The class behind `tf.data.Dataset`; that of `tf.compat.v1.data` hands the call on to it.
    for name in (_SLICES, "from_tensors"):
        patches.put(tf.data.Dataset, name, staticmethod(_of_slots(getattr(tf.data.Dataset, name), name)))
    # It is made by a function, or by a method.
    one_shot = "make_one_shot_iterator"
    patches.wrap(v1.data.Dataset, one_shot, _initializable)
    function = getattr(v1.data, one_shot)
    patches.put_everywhere([(one_shot, function, _initializable(function))])
    # A large array may be made a tensor first and a dataset of that: by these, or by an op that is given an array,
    # for which TensorFlow itself calls `tf.constant`.
    tensor_makers = ((name, getattr(home, name)) for name in ("constant", "convert_to_tensor") for home in (tf, v1))
    patches.put_everywhere((name, function, _of_a_slot_if_large(function)) for name, function in tensor_makers)


_stand_ins = SharedPatches(_replace)


def _of_slots(original: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(original)
    def make(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        slots = _current()
        if slots is None:
            return original(tensors, *args, **kwargs)
        tensors = _replaced(tensors, slots)
        try:
            return original(tensors, *args, **kwargs)
        except ValueError as error:
            lengths = dict(_lengths("", tensors))
            if name != _SLICES or len(set(lengths.values())) < 2:
                raise
            raise InputFnError(
                f"input_fn: Dataset.{_SLICES} takes one row of each array at a time, so they must be of one length; "
                f"{error}: the lengths are {lengths}. Cut the arrays to one length, or look where rows were lost."
            ) from error

    return make


def _of_a_slot_if_large(original: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def make(*args: Any, **kwargs: Any) -> Any:
        slots = _current()
        value = args[0] if args else kwargs.get("value")
        if slots is None or not isinstance(value, np.ndarray) or value.nbytes <= _LARGE_CONSTANT:
            return original(*args, **kwargs)
        made = _made_of(signature, args, kwargs)
        return original(*args, **kwargs) if made is None else _added(slots, *made)

    return make


def _made_of(signature: inspect.Signature, args: Any, kwargs: Any) -> tuple[Array, tf.DType, str] | None:
    """What a call of `tf.constant` or `tf.convert_to_tensor` asks for; None where that is TensorFlow's to say."""
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return None
    found = _as_array(given["value"])
    if found is None:
        return None
    array, dtype = found
    asked = [given[key] for key in ("dtype", "preferred_dtype", "dtype_hint") if given.get(key) is not None]
    if asked:
        wanted = tf.as_dtype(asked[0])
        if wanted.is_quantized or (wanted == tf.string) != (dtype == tf.string):
            return None
        dtype = wanted
    if given.get("shape") is not None:
        shape = tf.TensorShape(given["shape"])
        if given.get("verify_shape") or shape.num_elements() != array.size:
            return None
        array = array.reshape(shape.as_list())
    return array, dtype, given.get("name") or "Const"


def _replaced(structure: Any, slots: list[ArraySlot]) -> Any:
    """The structure with arrays replaced by tensors; lists and numbers stay as they are, and become constants."""
    if isinstance(structure, Mapping):
        plain = {key: _replaced(value, slots) for key, value in structure.items()}
        return plain if type(structure) is dict else _same_type(structure, plain)
    if isinstance(structure, tuple):
        parts = [_replaced(value, slots) for value in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    found = _as_array(structure)
    if found is None or found[0].ndim == 0:
        return structure
    return _added(slots, *found, "lightwell/array")


def _same_type(original: Mapping[Any, Any], plain: dict[Any, Any]) -> Any:
    """Dicts of other types (ordered ones, those with a default) keep their type where it can be made from a dict."""
    try:
        return type(original)(plain)  # type: ignore[call-arg]
    except TypeError:
        return plain


def _added(slots: list[ArraySlot], array: Array, dtype: tf.DType, name: str) -> Any:
    tensor, slot = tensor_of(array, dtype, name)
    slots.append(slot)
    return tensor


def _as_array(value: Any) -> tuple[Array, tf.DType] | None:
    """An array with the type that TensorFlow has for it; None for what is no array, or is TensorFlow's to refuse."""
    if hasattr(value, "to_numpy") and not tf.is_tensor(value):  # pandas, polars
        value = np.asarray(value)
    if not isinstance(value, np.ndarray):
        return None
    array = np.asarray(value)  # without a subclass's own ways
    if array.dtype == object or array.dtype.kind in "US":
        are_strings = array.dtype != object or all(isinstance(one, str | bytes) for one in array.flat)
        return (array, tf.string) if are_strings else None
    try:
        return array, tf.as_dtype(array.dtype)
    except TypeError:
        return None


def _lengths(path: str, structure: Any) -> Iterator[tuple[str, int | None]]:
    """The number of rows of each array in a structure, by the keys that lead to it."""
    parts: Any = ()
    if isinstance(structure, Mapping):
        parts = structure.items()
    elif isinstance(structure, tuple):
        parts = enumerate(structure)
    elif isinstance(structure, list):
        yield path, len(structure)
    elif tf.is_tensor(structure) and structure.shape.rank:
        yield path, structure.shape[0]
    for key, part in parts:
        yield from _lengths(f"{path}/{key}" if path else str(key), part)


def _initializable(original: Callable[..., Any]) -> Callable[..., Any]:
    """Makes an iterator that is initialised with the session, in place of a one-shot one.

    A one-shot iterator has its dataset in a function, which can hold constants only, and cannot be started again.
    """

    @functools.wraps(original)
    def make(dataset: Any) -> Any:
        if _current() is None:
            return original(dataset)
        v1.get_seed(None)  # as the original does: the random ops that follow are seeded by how often it was asked
        return v1.data.make_initializable_iterator(dataset)

    return make
