"""Fetches: structures of tensors and operations, flattened once and rebuilt from values after each step.

Takes any structure that `Session.run` takes (dicts, lists, tuples, sparse and ragged tensors, variables, names, paths),
under a key for each requester. Gives the elements to fetch, each once and by name, and rebuilds the structures from
their values. All fetches pass here: single and fused steps, outputs of steps, predictors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_tf
from lightwell.run.hooks.base import Late

Read = Callable[[Sequence[Any]], Any]
Element = Any  # tf.Tensor | tf.Operation

_v1 = tf.compat.v1


class Fetches:
    """Several structures as one list of elements.

    Args:
        graph: where names are looked up, also those of tensors of an equal graph.
        requests: requester -> the structure that it fetches.
        find: resolves a string in the structure of a requester. None: TensorFlow's own names.
    """

    def __init__(
        self, graph: tf.Graph, requests: Mapping[Any, Any], find: Callable[[Any, str], Any] | None = None
    ) -> None:
        self._graph = graph
        self._find = find
        self._places: dict[tuple[str, bool], int] = {}
        self._elements: list[tuple[Element, bool]] = []
        self._asked = dict(requests)  # alive: the ids of what is in it are part of keys
        self._reads = {key: self._reader(key, structure) for key, structure in requests.items()}

    @functools.cached_property
    def elements(self) -> list[Element]:
        """The elements to fetch with a step."""
        return [element for element, is_late in self._elements if not is_late]

    @functools.cached_property
    def late(self) -> list[Element]:
        """The elements to fetch in a call of their own, after the step."""
        return [element for element, is_late in self._elements if is_late]

    def read(self, values: Iterable[Any], late: Iterable[Any] = ()) -> dict[Any, Any]:
        """For each requester, the structure with values in place, as `Session.run` would return it.

        Args:
            values: those of `elements`, in order; of an operation, anything.
            late: those of `late`.
        """
        merged: Sequence[Any] = list(values)
        if self.late:
            with_step, after_it = iter(merged), iter(late)
            merged = [next(after_it if is_late else with_step) for _, is_late in self._elements]
        return {key: read(merged) for key, read in self._reads.items()}

    def _reader(self, requester: Any, part: Any) -> Read:
        if isinstance(part, tf.Tensor | tf.Operation):
            return self._read_element(part)
        if isinstance(part, Late):
            return self._read_element(part.tensor, is_late=True)
        if isinstance(part, Mapping):
            return self._read_mapping(requester, part)
        if isinstance(part, list | tuple):
            return _sequence_of(part, [self._reader(requester, one) for one in part])
        if isinstance(part, tf.SparseTensor):
            return self._read_parts(requester, _v1.SparseTensorValue, part.indices, part.values, part.dense_shape)
        if isinstance(part, tf.RaggedTensor):
            return self._read_parts(requester, _v1.ragged.RaggedTensorValue, part.values, part.row_splits)
        if isinstance(part, tf.IndexedSlices):
            parts = [part.values, part.indices, *([] if part.dense_shape is None else [part.dense_shape])]
            return self._read_parts(requester, private_tf.slices_value, *parts)
        if isinstance(part, str) and self._find is not None:
            return self._reader(requester, self._find(requester, part))
        return self._read_element(part)

    def _read_element(self, fetch: Any, is_late: bool = False) -> Read:
        """Of a tensor, an operation, or an object that stands for one."""
        element = self._in_graph(fetch)
        place = self._places.setdefault((element.name, is_late), len(self._elements))
        if place == len(self._elements):
            self._elements.append((element, is_late))
        if isinstance(element, tf.Operation):
            return lambda values: None
        return lambda values: values[place]

    def _in_graph(self, fetch: Any) -> Element:
        home = getattr(fetch, "graph", self._graph)
        if home is not self._graph and isinstance(home, tf.Graph):  # one that is equal to this one
            fetch = home.as_graph_element(fetch).name
        element = self._graph.as_graph_element(fetch)
        if isinstance(element, tf.Tensor) and element.dtype == tf.resource:
            # A variable's handle stands for its value: `"global_step:0"` was one in TensorFlow 1.
            own_read = f"{element.op.name}/Read/ReadVariableOp"
            reads = {op.name: op.outputs[0] for op in element.consumers() if op.type == "ReadVariableOp"}
            element = reads.get(own_read, element)
        return element

    def _read_mapping(self, requester: Any, part: Mapping[Any, Any]) -> Read:
        reads = [
            (key, self._reader(requester, value)) for key, value in part.items()
        ]  # in their own order, never sorted
        if type(part) is dict:
            return lambda values: {key: read(values) for key, read in reads}

        def of_same_type(values: Sequence[Any]) -> Any:
            items = {key: read(values) for key, read in reads}
            try:
                return type(part)(items)  # type: ignore[call-arg]
            except TypeError:  # a type that takes no dict, such as a defaultdict
                return items

        return of_same_type

    def _read_parts(self, requester: Any, build: Callable[..., Any], *parts: Any) -> Read:
        reads = [self._reader(requester, one) for one in parts]
        return lambda values: build(*(read(values) for read in reads))


def _sequence_of(original: Any, reads: Sequence[Read]) -> Read:
    if hasattr(original, "_fields"):
        kind: Any = type(original)
        return lambda values: kind(*(read(values) for read in reads))
    if isinstance(original, tuple):
        return lambda values: tuple(read(values) for read in reads)
    return lambda values: [read(values) for read in reads]


def fold_structure(
    structure: Any, leaf: Callable[[Any], Any], container: Callable[[type, tuple[Any, ...]], Any] = lambda *parts: parts
) -> Any:
    """What `leaf` and `container` make of a structure of dicts, lists and tuples, from its leaves up.

    Args:
        structure: the structure.
        leaf: called with each leaf.
        container: called with the type of a container and the results of its parts, (key, result) in a dict.
    """
    if isinstance(structure, Mapping):
        items = ((key, fold_structure(part, leaf, container)) for key, part in structure.items())
        return container(type(structure), tuple(items))
    if isinstance(structure, tuple | list):
        return container(type(structure), tuple(fold_structure(part, leaf, container) for part in structure))
    return leaf(structure)


def structure_key(fetches: Any) -> Hashable:
    """A hashable stand-in for a structure of fetches: its containers, with the name or the id of each leaf."""
    key: Hashable = fold_structure(fetches, lambda leaf: leaf if isinstance(leaf, str) else id(leaf))
    return key
