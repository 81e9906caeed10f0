"""Wraps TensorFlow's functions that take arrays while an `input_fn` runs, so that data stays out of the graph.

`Dataset.from_tensor_slices(arrays)` writes the arrays into the graph as constants; a graph is limited to 2 GB, is
copied, optimised and written to disk. The wrapped functions put each array into a slot outside the graph (`arrays.py`)
and record it in the `InputState` (`input_state.py`). Lists, numbers, small constants, and constants inside functions
such as that of `Dataset.map` stay in the graph.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import InputFnError
from lightwell.foreign.patches import Patches, SharedPatches
from lightwell.run.inputs.arrays import Array, typed
from lightwell.run.inputs.input_state import InputState, collect_input_state, current_input_state

v1 = tf.compat.v1
_LARGE_CONSTANT = 1 << 20
_SLICES = "from_tensor_slices"


@contextlib.contextmanager
def arrays_outside_graph(graph: tf.Graph) -> Iterator[InputState]:
    """Keeps arrays out of `graph` while an `input_fn` builds in it."""
    with collect_input_state(graph) as state, _stand_ins.applied():
        yield state


def _replace(patches: Patches) -> None:
    # The class behind `tf.data.Dataset`; that of `tf.compat.v1.data` hands the call on to it.
    for name in (_SLICES, "from_tensors"):
        patches.wrap(tf.data.Dataset, name, functools.partial(_of_slots, name))
    # A one-shot iterator comes from a function or from a method.
    one_shot = "make_one_shot_iterator"
    patches.wrap(v1.data.Dataset, one_shot, _initializable)
    function = getattr(v1.data, one_shot)
    patches.put_everywhere([(one_shot, function, patches.wrapped(_initializable, function))])
    # A large array may become a tensor first and then a dataset: by these, or by an op with an array as an argument,
    # for which TensorFlow itself calls `tf.constant`.
    makers = ((name, getattr(home, name)) for name in ("constant", "convert_to_tensor") for home in (tf, v1))
    patches.put_everywhere(
        (name, function, patches.wrapped(_of_a_slot_if_large, function)) for name, function in makers
    )


_stand_ins = SharedPatches(_replace)


def _of_slots(name: str, original: Callable[..., Any]) -> Any:
    @functools.wraps(original)
    def make(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        state = current_input_state()
        if state is None:
            return original(tensors, *args, **kwargs)
        tensors = _replaced(tensors, state)
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
        state = current_input_state()
        value = args[0] if args else kwargs.get("value")
        if state is None or not isinstance(value, np.ndarray) or value.nbytes <= _LARGE_CONSTANT:
            return original(*args, **kwargs)
        constant = _parse_constant(signature, args, kwargs)
        return original(*args, **kwargs) if constant is None else state.tensor(*constant)

    return make


def _parse_constant(signature: inspect.Signature, args: Any, kwargs: Any) -> tuple[Array, tf.DType, str] | None:
    """Array, type and name of a call of `tf.constant` or `tf.convert_to_tensor`; None to leave it to TensorFlow."""
    try:
        arguments = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return None
    typed_array = typed(arguments["value"])
    if typed_array is None:
        return None
    array, dtype = typed_array
    dtypes = [arguments[key] for key in ("dtype", "preferred_dtype", "dtype_hint") if arguments.get(key) is not None]
    if dtypes:
        requested = tf.as_dtype(dtypes[0])
        if requested.is_quantized or (requested == tf.string) != (dtype == tf.string):
            return None
        dtype = requested
    if arguments.get("shape") is not None:
        shape = tf.TensorShape(arguments["shape"])
        if arguments.get("verify_shape") or shape.num_elements() != array.size:
            return None
        array = array.reshape(shape.as_list())
    return array, dtype, arguments.get("name") or "Const"


def _replaced(structure: Any, state: InputState) -> Any:
    """The structure with arrays replaced by tensors; lists and numbers stay as they are, and become constants."""
    if isinstance(structure, Mapping):
        plain = {key: _replaced(value, state) for key, value in structure.items()}
        return plain if type(structure) is dict else _same_type(structure, plain)
    if isinstance(structure, tuple):
        parts = [_replaced(value, state) for value in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    typed_array = typed(structure)
    if typed_array is None or typed_array[0].ndim == 0:
        return structure
    return state.tensor(*typed_array, "lightwell/array")


def _same_type(original: Mapping[Any, Any], plain: dict[Any, Any]) -> Any:
    """Dicts of other types (ordered ones, those with a default) keep their type where a dict can be converted to it."""
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
        state = current_input_state()
        if state is None:
            return original(dataset)
        v1.get_seed(None)  # as the original does: each call changes the seeds of the random ops that follow
        return state.iterator(dataset)

    return make
