"""What a run is asked for: structures of tensors and operations, flattened once and rebuilt as often as they are run.

Takes any structure that `Session.run` takes (dicts, lists, tuples, sparse and ragged tensors, variables, names, paths),
under a key for each one who asks. Gives the elements to fetch, each once and by name, and the way back from their
values. All that fetches goes through here: single steps, fused ones, values kept of many steps, predictors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell import _tf
from lightwell.hooks.base import Late

Read = Callable[[Sequence[Any]], Any]
Element = Any  # tf.Tensor | tf.Operation

_v1 = tf.compat.v1


class Fetches:
    """Several structures as one list of elements.

    Args:
        graph: where names are looked up, and where tensors of an equal graph are found again by theirs.
        asked: who asks -> the structure that is asked for.
        find: called with who asks and a string in its structure; gives what is meant. None: TensorFlow's own names.
    """

    def __init__(
        self, graph: tf.Graph, asked: Mapping[Any, Any], find: Callable[[Any, str], Any] | None = None
    ) -> None:
        self._graph = graph
        self._find = find
        self._places: dict[tuple[str, bool], int] = {}
        self._elements: list[tuple[Element, bool]] = []
        self._asked = dict(asked)  # kept alive: structures are told by the ids of what is in them
        self._reads = {key: self._reader(key, structure) for key, structure in asked.items()}

    @functools.cached_property
    def elements(self) -> list[Element]:
        """What to fetch with a step."""
        return [element for element, is_late in self._elements if not is_late]

    @functools.cached_property
    def late(self) -> list[Element]:
        """What to fetch by itself, once the step is over."""
        return [element for element, is_late in self._elements if is_late]

    def read(self, values: Iterable[Any], late: Iterable[Any] = ()) -> dict[Any, Any]:
        """For each one who asked, the structure with values in place, as `Session.run` would give it.

        Args:
            values: those of `elements`, in order; of an operation, anything.
            late: those of `late`.
        """
        merged: Sequence[Any] = list(values)
        if self.late:
            with_step, after_it = iter(merged), iter(late)
            merged = [next(after_it if is_late else with_step) for _, is_late in self._elements]
        return {key: read(merged) for key, read in self._reads.items()}

    def _reader(self, who: Any, part: Any) -> Read:
        if isinstance(part, tf.Tensor | tf.Operation):
            return self._read_element(part)
        if isinstance(part, Late):
            return self._read_element(part.tensor, is_late=True)
        if isinstance(part, Mapping):
            return self._read_mapping(who, part)
        if isinstance(part, list | tuple):
            return _sequence_of(part, [self._reader(who, one) for one in part])
        if isinstance(part, tf.SparseTensor):
            return self._read_parts(who, _v1.SparseTensorValue, part.indices, part.values, part.dense_shape)
        if isinstance(part, tf.RaggedTensor):
            return self._read_parts(who, _v1.ragged.RaggedTensorValue, part.values, part.row_splits)
        if isinstance(part, tf.IndexedSlices):
            parts = [part.values, part.indices, *([] if part.dense_shape is None else [part.dense_shape])]
            return self._read_parts(who, _tf.slices_value, *parts)
        if isinstance(part, str) and self._find is not None:
            return self._reader(who, self._find(who, part))
        return self._read_element(part)

    def _read_element(self, fetch: Any, is_late: bool = False) -> Read:
        """Of a single thing: a tensor, an operation, or what stands for one."""
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
            # Of a variable's handle, the value is meant: `"global_step:0"` was one when programs were written.
            own_read = f"{element.op.name}/Read/ReadVariableOp"
            reads = {op.name: op.outputs[0] for op in element.consumers() if op.type == "ReadVariableOp"}
            element = reads.get(own_read, element)
        return element

    def _read_mapping(self, who: Any, part: Mapping[Any, Any]) -> Read:
        reads = [(key, self._reader(who, value)) for key, value in part.items()]  # in their own order, never sorted
        if type(part) is dict:
            return lambda values: {key: read(values) for key, read in reads}

        def of_same_type(values: Sequence[Any]) -> Any:
            found = {key: read(values) for key, read in reads}
            try:
                return type(part)(found)  # type: ignore[call-arg]
            except TypeError:  # a type that is not made of a dict, such as a defaultdict
                return found

        return of_same_type

    def _read_parts(self, who: Any, make: Callable[..., Any], *parts: Any) -> Read:
        reads = [self._reader(who, one) for one in parts]
        return lambda values: make(*(read(values) for read in reads))


def _sequence_of(original: Any, reads: Sequence[Read]) -> Read:
    if hasattr(original, "_fields"):
        kind: Any = type(original)
        return lambda values: kind(*(read(values) for read in reads))
    if isinstance(original, tuple):
        return lambda values: tuple(read(values) for read in reads)
    return lambda values: [read(values) for read in reads]


def key_of(fetches: Any) -> Hashable:
    """A hashable stand-in for a structure of fetches: its shape, with each leaf told by identity or name."""
    if isinstance(fetches, Mapping):
        return (type(fetches), tuple((name, key_of(value)) for name, value in fetches.items()))
    if isinstance(fetches, tuple | list):
        return (type(fetches), tuple(key_of(value) for value in fetches))
    return fetches if isinstance(fetches, str) else id(fetches)
