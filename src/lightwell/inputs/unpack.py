"""From what `input_fn` returned to features and labels.

Takes a `tf.data.Dataset`, tensors, a `(features, labels)` pair, dicts or nested structures of them. Gives an `Inputs`
value. What is no dataset is handed on to `model_fn` as it came: lists, numbers, arrays, None, objects of the user's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import tensorflow as tf

from lightwell.callables import name_of
from lightwell.errors import InputFnError
from lightwell.inputs.arrays import ArraySlot
from lightwell.inputs.kept import Kept, Source
from lightwell.inputs.looking_ahead import AheadIterator, looking_ahead, may_end
from lightwell.inputs.pipeline import lighter_initializer
from lightwell.keys import ModeKeys

_EXPECTED = "a tf.data.Dataset, features, or a (features, labels) pair"


@dataclass(frozen=True, eq=False)
class Inputs:
    """One batch, as tensors, and the ops that set its source going.

    Attributes:
        features: a tensor or a structure of tensors, or whatever else `input_fn` returned.
        labels: likewise, or None.
        initializers: ops to run once after variables and tables are initialised.
        arrays: the arrays that `input_fn` made datasets and tensors of, in the order in which they were met. They are
            there as long as this value is; see `ArraySlot`.
        sources: the iterators that are ours, each with the dataset it goes over.
    """

    features: Any
    labels: Any
    initializers: tuple[tf.Operation, ...] = ()
    arrays: tuple[ArraySlot, ...] = ()
    sources: tuple[Source, ...] = ()

    def take_arrays_of(self, other: Inputs) -> None:
        """Goes over the arrays of another call from now on; equal graphs meet their arrays in the same order."""
        for own, given in zip(self.arrays, other.arrays, strict=True):
            own.take_from(given)

    def close(self) -> None:
        """Lets the memory of the arrays go, once the session that went over them is closed."""
        for slot in self.arrays:
            slot.free()
        if self.arrays and tf.executing_eagerly():
            tf.identity(0)  # TensorFlow lets go of NumPy's memory the next time that it runs an op


def unpack_inputs(result: Any, input_fn: Callable[..., Any], mode: str, kept: Kept) -> Inputs:
    """Turns `input_fn`'s result into an `Inputs`; must run in the graph that the result belongs to.

    Args:
        result: what `input_fn` returned.
        input_fn: the function, for errors.
        mode: a `ModeKeys` value.
        kept: what the call made that outlives it, which the `Inputs` takes over.

    Raises:
        InputFnError: the result is nothing, or of a form that holds no batch.
    """
    if isinstance(result, tf.data.Dataset):
        return unpack_element(result, input_fn, mode, kept)[0]
    return _unpacked(result, _where(input_fn, mode), mode, kept)


def unpack_element(
    dataset: tf.data.Dataset, input_fn: Callable[..., Any], mode: str, kept: Kept, ahead: int = 0
) -> tuple[Inputs, Any]:
    """The next element of a dataset as an `Inputs`, and the iterator that gives more of them.

    With `ahead`, where the dataset may end, an `AheadIterator` that looks so many elements ahead.
    """
    where = _where(input_fn, mode)
    element, iterator = _next_element(dataset, where, kept, ahead)
    return _unpacked(element, where, mode, kept), iterator


def _where(input_fn: Callable[..., Any], mode: str) -> str:
    return f"input_fn {name_of(input_fn)!r} (mode {mode!r})"


def _unpacked(element: Any, where: str, mode: str, kept: Kept) -> Inputs:
    features, labels = _split(element, where, mode)
    initializers = tuple(iterator.initializer for iterator, _ in kept.sources)
    return Inputs(features, labels, initializers, tuple(kept.arrays), tuple(kept.sources))


def with_all_initializers(inputs: Inputs, graph: tf.Graph, local_init_op: Any = None) -> Inputs:
    """The inputs, with the initialisers of iterators that the user made and left to us among the others.

    The user's business stays: an initialiser that is run with `local_init_op` or, without one, the tables; one that
    needs a value which only the user can feed (in a hook's `after_create_session`); which one of several to run.
    """
    by_iterator: dict[str, list[tf.Operation]] = {}
    for op in graph.get_operations():
        if op.type == "MakeIterator" and op not in inputs.initializers:
            by_iterator.setdefault(op.inputs[1].op.name, []).append(op)
    if not by_iterator:
        return inputs
    tables = graph.get_collection(tf.compat.v1.GraphKeys.TABLE_INITIALIZERS)
    seen_to = {op.name for op in _ops_behind(tables if local_init_op is None else [local_init_op])}
    more = tuple(
        made[0]
        for made in by_iterator.values()
        if len(made) == 1 and made[0].name not in seen_to and not any(map(_is_fed, _ops_behind(made)))
    )
    return replace(inputs, initializers=inputs.initializers + more)


def with_lighter_initializers(inputs: Inputs, in_bursts: bool) -> Inputs:
    """The inputs, their iterators started the lighter way where there is one; their graph grows.

    `in_bursts` says that batches will be taken many at a time, with pauses.
    """
    lighter = {
        iterator.initializer: lighter_initializer(iterator, dataset, in_bursts) for iterator, dataset in inputs.sources
    }
    return replace(inputs, initializers=tuple(lighter.get(op, op) for op in inputs.initializers))


def leaves_of(structure: Any) -> Iterator[Any]:
    """What a structure holds, in its own order. Unlike `tf.nest.flatten` it sorts nothing, so any keys will do."""
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


def _next_element(dataset: tf.data.Dataset, where: str, kept: Kept, ahead: int) -> tuple[Any, Any]:
    spec = dataset.element_spec
    if isinstance(spec, tuple | list) and len(spec) != 2:
        raise InputFnError(
            f"{where}: input_fn should return (features, labels) as a len 2 tuple, and the elements of its dataset are "
            f"tuples of {len(spec)}; expected features or (features, labels), got {spec!r}. Map it to pairs, for "
            "example with features in a dict."
        )
    try:
        if ahead and may_end(dataset):
            iterator: Any = AheadIterator(kept.iterator(looking_ahead(dataset, ahead)))
        else:
            iterator = kept.iterator(dataset)
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
    """All ops that the given ops and tensors depend on, and they themselves."""
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
