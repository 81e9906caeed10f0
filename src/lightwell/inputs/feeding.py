"""Data stays out of the graph: arrays that `input_fn` makes datasets of are fed when the iterator is initialised.

`Dataset.from_tensor_slices(arrays)` writes the arrays into the graph as constants; a graph is limited to 2 GB, is
copied, optimised and written to disk. While `input_fn` runs, the functions that take arrays are wrapped: each
array becomes a placeholder and is remembered as its feed. Afterwards the functions are put back.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell._patches import Patches, SharedPatches

v1 = tf.compat.v1
_LARGE_CONSTANT = 1 << 20


@dataclass(eq=False)
class ArrayFeeds:
    """The arrays of one `input_fn` call, in the order in which they were met, with the placeholders they belong to."""

    placeholders: list[Any] = field(default_factory=list)
    arrays: list[Any] = field(default_factory=list)

    def add(self, array: Any, shape: Any) -> Any:
        """Makes the placeholder of an array."""
        tensor = tf.compat.v1.placeholder(tf.as_dtype(array.dtype), shape, name="array")
        self.placeholders.append(tensor)
        self.arrays.append(array)
        return tensor


@contextlib.contextmanager
def arrays_fed(graph: tf.Graph) -> Iterator[ArrayFeeds]:
    """Keeps arrays out of `graph` while an `input_fn` builds its datasets in it."""
    feeds = ArrayFeeds()
    _collecting[graph] = feeds
    try:
        with _stand_ins.applied():
            yield feeds
    finally:
        del _collecting[graph]


# The graphs that an `input_fn` builds in right now, with the arrays met so far.
_collecting: dict[tf.Graph, ArrayFeeds] = {}


def _current() -> ArrayFeeds | None:
    """The feeds to collect into; none inside a map function, in another thread's graph, outside of an `input_fn`."""
    return _collecting.get(tf.compat.v1.get_default_graph())


def _replace(patches: Patches) -> None:
    # The class behind `tf.data.Dataset`; that of `tf.compat.v1.data` hands the call on to it.
    for name in ("from_tensor_slices", "from_tensors"):
        patches.put(tf.data.Dataset, name, staticmethod(_feeding(getattr(tf.data.Dataset, name), name)))
    # A one-shot iterator cannot depend on a fed value. It is made by a function, or by a method.
    one_shot = "make_one_shot_iterator"
    patches.wrap(tf.compat.v1.data.Dataset, one_shot, _initializable)
    function = getattr(tf.compat.v1.data, one_shot)
    patches.put_everywhere([(one_shot, function, _initializable(function))])
    # A large array may be made a tensor first and a dataset of that. TensorFlow's own constants stay constants.
    tensor_makers = ((name, getattr(home, name)) for name in ("constant", "convert_to_tensor") for home in (tf, v1))
    patches.put_everywhere(
        ((name, function, _feeding_large(function)) for name, function in tensor_makers),
        but_not_in="tensorflow.python",
    )


_stand_ins = SharedPatches(_replace)


def _feeding(original: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(original)
    def with_placeholders(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        feeds = _current()
        if feeds is not None:
            tensors = _replaced(tensors, feeds, rows=name == "from_tensor_slices")
        return original(tensors, *args, **kwargs)

    return with_placeholders


def _feeding_large(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def with_placeholder(value: Any, *args: Any, **kwargs: Any) -> Any:
        is_large = isinstance(value, np.ndarray) and value.nbytes > _LARGE_CONSTANT and not args and not kwargs
        feeds = _current() if is_large else None
        if feeds is not None and _as_array(value) is not None:
            return feeds.add(value, value.shape)
        return original(value, *args, **kwargs)

    return with_placeholder


def _replaced(structure: Any, feeds: ArrayFeeds, rows: bool) -> Any:
    """The structure with arrays replaced by placeholders; lists and numbers stay constants, as they are small."""
    if isinstance(structure, Mapping):
        plain = {key: _replaced(value, feeds, rows) for key, value in structure.items()}
        return plain if isinstance(structure, dict) and type(structure) is dict else _same_type(structure, plain)
    if isinstance(structure, tuple):
        parts = [_replaced(value, feeds, rows) for value in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    array = _as_array(structure)
    if array is None or array.ndim == 0:
        return structure
    # The number of rows stays open: a later call with more of them has the same graph.
    return feeds.add(array, [None, *array.shape[1:]] if rows else array.shape)


def _same_type(original: Mapping[Any, Any], plain: dict[Any, Any]) -> Any:
    """Dicts of other types (ordered, pandas' frames as mappings) keep their type where it can be made from a dict."""
    try:
        return type(original)(plain)  # type: ignore[call-arg]
    except TypeError:
        return plain


def _as_array(value: Any) -> np.ndarray[Any, Any] | None:
    if hasattr(value, "to_numpy") and hasattr(value, "iloc"):  # a pandas Series or DataFrame
        value = value.to_numpy()
    if not isinstance(value, np.ndarray):
        return None
    if value.dtype == object or value.dtype.kind in "US":
        return np.asarray(value, dtype=object) if value.size else None
    try:
        tf.as_dtype(value.dtype)
    except TypeError:
        return None
    return value


def _initializable(original: Callable[..., Any]) -> Callable[..., Any]:
    """Makes an iterator that is initialised with the session, in place of a one-shot one."""

    @functools.wraps(original)
    def make(dataset: Any) -> Any:
        return original(dataset) if _current() is None else tf.compat.v1.data.make_initializable_iterator(dataset)

    return make
