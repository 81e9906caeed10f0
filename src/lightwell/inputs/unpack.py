"""From what `input_fn` returned to features and labels.

Takes a `tf.data.Dataset`, tensors, a `(features, labels)` pair, dicts or nested structures of tensors (sparse and
ragged ones included). Gives an `Inputs` value whose tensors belong to the graph being built.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.callables import name_of
from lightwell.errors import InputFnError
from lightwell.inputs.pipeline import lighter_initializer
from lightwell.keys import ModeKeys

_EXPECTED = "a tf.data.Dataset, features, or a (features, labels) pair"


@dataclass(frozen=True, eq=False)
class Inputs:
    """One batch, as tensors, and the ops that set its source going.

    Attributes:
        features: a tensor or a structure of tensors.
        labels: likewise, or None.
        initializers: ops to run once after variables and tables are initialised.
        feeds: placeholders that the initialisers depend on, each with the array to feed.
        source: the iterator and the dataset it goes over, where both are ours.
        count: the number of batches, negative where it is unknown; fetch it together with the initialisers.
    """

    features: Any
    labels: Any
    initializers: tuple[tf.Operation, ...] = ()
    feeds: tuple[tuple[Any, Any], ...] = ()
    source: tuple[Any, tf.data.Dataset] | None = None
    count: Any = None
    arrays: tuple[Any, ...] = ()


def unpack_inputs(result: Any, input_fn: Callable[..., Any], mode: str) -> Inputs:
    """Turns `input_fn`'s result into an `Inputs`; must run in the graph that the result belongs to.

    Raises:
        InputFnError: the result is nothing, or of a form that holds no batch.
    """
    where = f"input_fn {name_of(input_fn)!r} (mode {mode!r})"
    if isinstance(result, tf.data.Dataset):
        return _from_dataset(result, where, mode)
    features, labels = _split(result, where, mode)
    return Inputs(features, labels)


def with_all_initializers(inputs: Inputs, graph: tf.Graph) -> Inputs:
    """The inputs, with the initialisers of iterators that the user made and left to us among the others.

    An initialiser that needs a value only the user can feed stays the user's business (a hook's
    `after_create_session`).
    """
    ours = frozenset(tensor.op.name for tensor, _ in inputs.feeds)
    made = [op for op in graph.get_operations() if op.type == "MakeIterator" and op not in inputs.initializers]
    more = tuple(op for op in made if not placeholders_behind(op) - ours)
    if inputs.source is None:
        return dataclasses.replace(inputs, initializers=inputs.initializers + more)
    own = (lighter_initializer(*inputs.source),)
    return dataclasses.replace(inputs, initializers=own + more, count=inputs.source[1].cardinality())


def _from_dataset(dataset: tf.data.Dataset, where: str, mode: str) -> Inputs:
    spec = dataset.element_spec
    if isinstance(spec, tuple | list) and len(spec) != 2:
        raise InputFnError(
            f"{where} returned a dataset whose elements are tuples of {len(spec)}; expected features or "
            f"(features, labels), got {spec!r}. Map it to pairs, for example with features in a dict."
        )
    try:
        iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    except ValueError as error:
        if "graph" not in str(error):
            raise
        raise InputFnError(
            f"{where} returned a dataset that was made outside input_fn ({dataset!r}). Make the dataset, with all that "
            "it is made from, inside input_fn, which is called in the graph of the model."
        ) from error
    features, labels = _split(iterator.get_next(), where, mode)
    return Inputs(features, labels, (iterator.initializer,), source=(iterator, dataset))


def _split(element: Any, where: str, mode: str) -> tuple[Any, Any]:
    features, labels = element, None
    if isinstance(element, tuple | list):
        if len(element) != 2:
            raise InputFnError(
                f"{where} should return (features, labels) as a len 2 tuple, got {type(element).__name__} of "
                f"{len(element)}. Expected {_EXPECTED}; put several features into a dict."
            )
        features, labels = element
    if features is None:
        raise InputFnError(f"{where} returned nothing; expected {_EXPECTED}. Is a `return` missing?")
    features = _as_tensors(features, "features", where)
    if mode == ModeKeys.PREDICT or labels is None:
        return features, None
    return features, _as_tensors(labels, "labels", where)


def _as_tensors(structure: Any, what: str, where: str) -> Any:
    """Turns arrays and numbers among the leaves into tensors, and checks that all are of the graph being built."""
    if isinstance(structure, Mapping) and not structure:
        return structure  # a model without inputs: legal, if rare
    structure = tf.nest.map_structure(lambda leaf: _as_tensor(leaf, what, where), structure)
    graph = tf.compat.v1.get_default_graph()
    for part in tf.nest.flatten(structure, expand_composites=True):
        if _graph_of(part) is not graph:
            raise InputFnError(
                f"{where}: {what} holds a tensor that was made outside input_fn ({part!r}). Build all of the input "
                "inside input_fn, which is called in the graph of the model."
            )
    return structure


def _as_tensor(leaf: Any, what: str, where: str) -> Any:
    if tf.is_tensor(leaf):
        return leaf
    if isinstance(leaf, np.ndarray | np.generic | int | float | str | bytes):
        return tf.convert_to_tensor(leaf)
    raise InputFnError(
        f"{where}: {what} must hold tensors, got {type(leaf).__name__}. Expected {_EXPECTED}; arrays become a dataset "
        "with tf.data.Dataset.from_tensor_slices(...)."
    )


def _graph_of(tensor: Any) -> tf.Graph | None:
    try:
        return tensor.graph
    except AttributeError:  # an eager tensor has no graph
        return None


def placeholders_behind(op: tf.Operation) -> set[str]:
    """The names of all placeholders that `op` depends on."""
    found: set[str] = set()
    seen: set[str] = set()
    left = [op]
    while left:
        current = left.pop()
        if current.name in seen:
            continue
        seen.add(current.name)
        if current.type in ("Placeholder", "PlaceholderV2"):
            found.add(current.name)
        left.extend(tensor.op for tensor in current.inputs)
        left.extend(current.control_inputs)
    return found
