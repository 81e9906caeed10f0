"""Data stays out of the graph: arrays that `input_fn` makes datasets of are fed when the iterator is initialised.

`Dataset.from_tensor_slices(arrays)` writes the arrays into the graph as constants; a graph is limited to 2 GB, is
copied, optimised and written to disk. While `input_fn` runs, the functions that take arrays are wrapped: each
array becomes a placeholder and is remembered as its feed. Afterwards the functions are put back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

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
    # The class behind `tf.data.Dataset`; that of `tf.compat.v1.data` hands the call on to it.
    dataset_class = tf.data.Dataset
    wrapped: list[tuple[Any, str, Any]] = []

    def wrap(owner: Any, name: str, replacement: Any) -> None:
        wrapped.append((owner, name, vars(owner)[name]))
        setattr(owner, name, replacement)

    try:
        for name in ("from_tensor_slices", "from_tensors"):
            wrap(dataset_class, name, staticmethod(_feeding(getattr(dataset_class, name), graph, feeds, name)))
        # A one-shot iterator cannot depend on a fed value. It is made by a function, or by a method.
        for owner in (tf.compat.v1.data, tf.compat.v1.data.Dataset):
            wrap(owner, "make_one_shot_iterator", _initializable_in(graph, owner.make_one_shot_iterator))
        # A large array may be made a tensor first and a dataset of that.
        for owner in (tf, tf.compat.v1):
            for name in ("constant", "convert_to_tensor"):
                wrap(owner, name, _feeding_large(getattr(owner, name), graph, feeds))
        yield feeds
    finally:
        for owner, name, original in reversed(wrapped):
            setattr(owner, name, original)


def _feeding(original: Callable[..., Any], graph: tf.Graph, feeds: ArrayFeeds, name: str) -> Callable[..., Any]:
    def with_placeholders(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if tf.compat.v1.get_default_graph() is graph:  # not inside a map function, not in another thread's graph
            tensors = _replaced(tensors, feeds, rows=name == "from_tensor_slices")
        return original(tensors, *args, **kwargs)

    with_placeholders.__doc__ = original.__doc__
    return with_placeholders


def _feeding_large(original: Callable[..., Any], graph: tf.Graph, feeds: ArrayFeeds) -> Callable[..., Any]:
    def with_placeholder(value: Any, *args: Any, **kwargs: Any) -> Any:
        is_large = isinstance(value, np.ndarray) and value.nbytes > _LARGE_CONSTANT and not args and not kwargs
        if is_large and _as_array(value) is not None and tf.compat.v1.get_default_graph() is graph:
            return feeds.add(value, value.shape)
        return original(value, *args, **kwargs)

    with_placeholder.__doc__ = original.__doc__
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


def _initializable_in(graph: tf.Graph, original: Callable[..., Any]) -> Callable[..., Any]:
    """Makes an iterator that is initialised with the session, in place of a one-shot one."""

    def make(dataset: Any) -> Any:
        if tf.compat.v1.get_default_graph() is graph:
            return tf.compat.v1.data.make_initializable_iterator(dataset)
        return original(dataset)

    return make
