"""Unpacks the result of `input_fn` into features and labels.

Takes a `tf.data.Dataset`, tensors, a `(features, labels)` pair, dicts or nested structures of them. Returns an `Inputs`
value. Anything but a dataset goes to `model_fn` unchanged: lists, numbers, arrays, None, the user's own objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import tensorflow as tf

from lightwell.base.callables import name_of
from lightwell.base.keys import ModeKeys
from lightwell.errors import InputFnError
from lightwell.run.inputs.arrays import ArraySlot
from lightwell.run.inputs.input_state import InputState, Source
from lightwell.run.inputs.lookahead import LookaheadIterator, may_end, with_lookahead
from lightwell.run.inputs.pipeline import lighter_initializer

_EXPECTED = "a tf.data.Dataset, features, or a (features, labels) pair"


@dataclass(frozen=True, eq=False)
class Inputs:
    """One batch, as tensors, and the ops that start its source.

    Attributes:
        features: a tensor or a structure of tensors, or whatever else `input_fn` returned.
        labels: likewise, or None.
        initializers: ops to run once after variables and tables are initialised.
        arrays: the arrays of the datasets and tensors of `input_fn`, in order of creation. They live as long as this
            value; see `ArraySlot`.
        sources: the iterators that Lightwell starts, each with its dataset.
    """

    features: Any
    labels: Any
    initializers: tuple[tf.Operation, ...] = ()
    arrays: tuple[ArraySlot, ...] = ()
    sources: tuple[Source, ...] = ()

    def take_arrays_of(self, other: Inputs) -> None:
        """Uses the arrays of another call from now on; equal graphs have their arrays in the same order."""
        for own, new in zip(self.arrays, other.arrays, strict=True):
            own.take_from(new)

    def close(self) -> None:
        """Frees the memory of the arrays, once the session that used them is closed."""
        for slot in self.arrays:
            slot.free()
        if self.arrays and tf.executing_eagerly():
            tf.identity(0)  # TensorFlow releases NumPy's memory when it next runs an op


def unpack_inputs(result: Any, input_fn: Callable[..., Any], mode: str, state: InputState) -> Inputs:
    """Turns `input_fn`'s result into an `Inputs`; must run in the graph that the result belongs to.

    Args:
        result: what `input_fn` returned.
        input_fn: the function, for errors.
        mode: a `ModeKeys` value.
        state: the arrays and iterators of the call, which the `Inputs` takes over.

    Raises:
        InputFnError: the result is nothing, or of a form that holds no batch.
    """
    if isinstance(result, tf.data.Dataset):
        return unpack_element(result, input_fn, mode, state)[0]
    return _unpacked(result, _where(input_fn, mode), mode, state)


def unpack_element(
    dataset: tf.data.Dataset, input_fn: Callable[..., Any], mode: str, state: InputState, ahead: int = 0
) -> tuple[Inputs, Any]:
    """The next element of a dataset as an `Inputs`, and its iterator.

    With `ahead`, where the dataset may end, a `LookaheadIterator` that reads this many elements ahead.
    """
    where = _where(input_fn, mode)
    element, iterator = _next_element(dataset, where, state, ahead)
    return _unpacked(element, where, mode, state), iterator


def _where(input_fn: Callable[..., Any], mode: str) -> str:
    return f"input_fn {name_of(input_fn)!r} (mode {mode!r})"


def _unpacked(element: Any, where: str, mode: str, state: InputState) -> Inputs:
    features, labels = _split(element, where, mode)
    initializers = tuple(iterator.initializer for iterator, _ in state.sources)
    return Inputs(features, labels, initializers, tuple(state.arrays), tuple(state.sources))


def with_all_initializers(inputs: Inputs, graph: tf.Graph, local_init_op: Any = None) -> Inputs:
    """The inputs, with the initialisers of the user's own iterators that nothing else runs.

    Left to the user: an initialiser that runs with `local_init_op` or, without one, with the tables; one that needs a
    value which only the user can feed (in a hook's `after_create_session`); the choice among several.
    """
    by_iterator: dict[str, list[tf.Operation]] = {}
    for op in graph.get_operations():
        if op.type == "MakeIterator" and op not in inputs.initializers:
            by_iterator.setdefault(op.inputs[1].op.name, []).append(op)
    if not by_iterator:
        return inputs
    tables = graph.get_collection(tf.compat.v1.GraphKeys.TABLE_INITIALIZERS)
    run_elsewhere = {op.name for op in _ops_behind(tables if local_init_op is None else [local_init_op])}
    more = tuple(
        makers[0]
        for makers in by_iterator.values()
        if len(makers) == 1 and makers[0].name not in run_elsewhere and not any(map(_is_fed, _ops_behind(makers)))
    )
    return replace(inputs, initializers=inputs.initializers + more)


def with_lighter_initializers(inputs: Inputs, in_bursts: bool) -> Inputs:
    """The inputs with cheaper initialisers where there are any; their graph grows.

    `in_bursts` says that batches will be taken many at a time, with pauses.
    """
    lighter = {
        iterator.initializer: lighter_initializer(iterator, dataset, in_bursts) for iterator, dataset in inputs.sources
    }
    return replace(inputs, initializers=tuple(lighter.get(op, op) for op in inputs.initializers))


def leaves_of(structure: Any) -> Iterator[Any]:
    """The leaves of a structure, in its own order. Unlike `tf.nest.flatten` it sorts nothing, so any keys will do."""
    parts: Iterable[Any] | None = None
    if isinstance(structure, Mapping):
        parts = structure.values()
    elif isinstance(structure, tuple | list):
        parts = structure
    if parts is None:
        yield structure
        return
    for part in parts:
        yield from leaves_of(part)


def _next_element(dataset: tf.data.Dataset, where: str, state: InputState, ahead: int) -> tuple[Any, Any]:
    spec = dataset.element_spec
    if isinstance(spec, tuple | list) and len(spec) != 2:
        raise InputFnError(
            f"{where}: input_fn should return (features, labels) as a len 2 tuple, and the elements of its dataset are "
            f"tuples of {len(spec)}; expected features or (features, labels), got {spec!r}. Map it to pairs, for "
            "example with features in a dict."
        )
    try:
        if ahead and may_end(dataset):
            iterator: Any = LookaheadIterator(state.iterator(with_lookahead(dataset, ahead)))
        else:
            iterator = state.iterator(dataset)
        return iterator.get_next(), iterator
    except ValueError as error:
        if "graph" not in str(error):
            raise
        raise InputFnError(
            f"{where} returned a dataset that was made outside input_fn ({dataset!r}). Make the dataset, with all that "
            "it is made from, inside input_fn, which is called in the graph of the model."
        ) from error


def _split(element: Any, where: str, mode: str) -> tuple[Any, Any]:
    features, labels = element, None
    if isinstance(element, tuple | list):
        if len(element) != 2:
            raise InputFnError(
                f"{where}: input_fn should return (features, labels) as a len 2 tuple, got {type(element).__name__} "
                f"of {len(element)}. Expected {_EXPECTED}; put several features into a dict."
            )
        features, labels = element
    if mode == ModeKeys.PREDICT:
        labels = None
    for what, structure in (("features", features), ("labels", labels)):
        for leaf in leaves_of(structure):
            _check(leaf, what, where)
    return features, labels


def _check(leaf: Any, what: str, where: str) -> None:
    """Refuses what no model can use; anything else is between `input_fn` and `model_fn`."""
    if isinstance(leaf, Iterator):
        raise InputFnError(
            f"{where}: {what} must hold tensors, got {type(leaf).__name__}. Expected {_EXPECTED}; what yields examples "
            "in Python becomes a dataset with tf.data.Dataset.from_generator(...), arrays with from_tensor_slices(...)."
        )
    if not tf.is_tensor(leaf):
        return
    graph = tf.compat.v1.get_default_graph()
    for part in tf.nest.flatten(leaf, expand_composites=True):
        if _graph_of(part) is not graph:
            raise InputFnError(
                f"{where}: {what} holds a tensor that was made outside input_fn ({part!r}). Build all of the input "
                "inside input_fn, which is called in the graph of the model."
            )


def _graph_of(tensor: Any) -> tf.Graph | None:
    try:
        return tensor.graph
    except AttributeError:  # an eager tensor has no graph
        return None


def _is_fed(op: tf.Operation) -> bool:
    return op.type in ("Placeholder", "PlaceholderV2")


def _ops_behind(members: Iterable[Any]) -> Iterator[tf.Operation]:
    """All ops that these ops and tensors depend on, themselves included."""
    seen: set[str] = set()
    left = [member if isinstance(member, tf.Operation) else member.op for member in members]
    while left:
        op = left.pop()
        if op.name in seen:
            continue
        seen.add(op.name)
        yield op
        left.extend(tensor.op for tensor in op.inputs)
        left.extend(op.control_inputs)
