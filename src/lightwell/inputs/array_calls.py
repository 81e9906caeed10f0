"""Data stays out of the graph: TensorFlow's functions that take arrays, while an `input_fn` calls them.

`Dataset.from_tensor_slices(arrays)` writes the arrays into the graph as constants; a graph is limited to 2 GB, is
copied, optimised and written to disk. While `input_fn` runs, the functions that take arrays are wrapped: each array
goes into a slot beside the graph (`arrays.py`). Afterwards the functions are put back.

Takes a graph, gives what was kept of it (`kept.py`). In the graph stay lists and numbers, constants that are small, and
those inside functions, such as that of `Dataset.map`.
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
from lightwell.inputs.arrays import Array, typed
from lightwell.inputs.kept import Kept, keeping, kept_here

v1 = tf.compat.v1
_LARGE_CONSTANT = 1 << 20
_SLICES = "from_tensor_slices"


@contextlib.contextmanager
def arrays_kept_out(graph: tf.Graph) -> Iterator[Kept]:
    """Keeps arrays out of `graph` while an `input_fn` builds in it."""
    with keeping(graph) as kept, _stand_ins.applied():
        yield kept


def _replace(patches: Patches) -> None:
    # The class behind `tf.data.Dataset`; that of `tf.compat.v1.data` hands the call on to it.
    for name in (_SLICES, "from_tensors"):
        patches.wrap(tf.data.Dataset, name, functools.partial(_of_slots, name))
    # It is made by a function, or by a method.
    one_shot = "make_one_shot_iterator"
    patches.wrap(v1.data.Dataset, one_shot, _initializable)
    function = getattr(v1.data, one_shot)
    patches.put_everywhere([(one_shot, function, patches.made(_initializable, function))])
    # A large array may be made a tensor first and a dataset of that: by these, or by an op that is given an array,
    # for which TensorFlow itself calls `tf.constant`.
    makers = ((name, getattr(home, name)) for name in ("constant", "convert_to_tensor") for home in (tf, v1))
    patches.put_everywhere((name, function, patches.made(_of_a_slot_if_large, function)) for name, function in makers)


_stand_ins = SharedPatches(_replace)


def _of_slots(name: str, original: Callable[..., Any]) -> Any:
    @functools.wraps(original)
    def make(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        kept = kept_here()
        if kept is None:
            return original(tensors, *args, **kwargs)
        tensors = _replaced(tensors, kept)
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

    return staticmethod(make)


def _of_a_slot_if_large(original: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def make(*args: Any, **kwargs: Any) -> Any:
        kept = kept_here()
        value = args[0] if args else kwargs.get("value")
        if kept is None or not isinstance(value, np.ndarray) or value.nbytes <= _LARGE_CONSTANT:
            return original(*args, **kwargs)
        made = _made_of(signature, args, kwargs)
        return original(*args, **kwargs) if made is None else kept.tensor(*made)

    return make


def _made_of(signature: inspect.Signature, args: Any, kwargs: Any) -> tuple[Array, tf.DType, str] | None:
    """What a call of `tf.constant` or `tf.convert_to_tensor` asks for; None where that is TensorFlow's to say."""
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return None
    found = typed(given["value"])
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


def _replaced(structure: Any, kept: Kept) -> Any:
    """The structure with arrays replaced by tensors; lists and numbers stay as they are, and become constants."""
    if isinstance(structure, Mapping):
        plain = {key: _replaced(value, kept) for key, value in structure.items()}
        return plain if type(structure) is dict else _same_type(structure, plain)
    if isinstance(structure, tuple):
        parts = [_replaced(value, kept) for value in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    found = typed(structure)
    if found is None or found[0].ndim == 0:
        return structure
    return kept.tensor(*found, "lightwell/array")


def _same_type(original: Mapping[Any, Any], plain: dict[Any, Any]) -> Any:
    """Dicts of other types (ordered ones, those with a default) keep their type where it can be made from a dict."""
    try:
        return type(original)(plain)  # type: ignore[call-arg]
    except TypeError:
        return plain


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
        kept = kept_here()
        if kept is None:
            return original(dataset)
        v1.get_seed(None)  # as the original does: the random ops that follow are seeded by how often it was asked
        return kept.iterator(dataset)

    return make
