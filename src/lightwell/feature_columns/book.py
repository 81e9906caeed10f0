"""Columns in the book of layers.

Owns `ColumnsAtBook`, one call of a layer over columns: what each column reads passes the book before it computes, and
what it gives after, one line per column, named `<layer>/<column name>`, whose `layer` is its slot or term. Takes
features and each column's output; gives what columns read, and what the layer is made of.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell import _tf
from lightwell.feature_columns.slots import ColumnSlot, ColumnTerm
from lightwell.layers.record import Calling, open_book

# How TensorFlow's functions ask a column for what it makes of the features.
_ASKED_BY = ("_get_dense_tensor", "_get_sparse_tensors")


class ColumnsAtBook:
    """One call of a layer over columns, at the book of layers.

    Args:
        features: feature key -> tensor, what the layer was called with.
        kind: the kind of the layer; None where the layer passes the book by itself, and only its columns do here.
        name: its name; None where only the variable scope of its columns tells, once the first is asked.

    Attributes:
        features: what the columns read.
    """

    def __init__(self, features: Mapping[str, Any], kind: str | None = None, name: str | None = None) -> None:
        self.features = features
        self._name = name
        self._whole = None if kind is None else Calling(name=self._name_now, kind=kind)
        self._parts: dict[Any, Calling] = {}
        self._cache: Any = None

    def reading(self, columns: Any) -> Any:
        """For a function of TensorFlow, columns that read what the book gives them; those given where nobody edits."""
        if not _somebody_edits() or not isinstance(columns, list | tuple):
            return columns
        return [_reading(column, self.cache_of) for column in columns]

    def cache_of(self, column: Any, cache: Any) -> Any:
        """Where a column takes its features from: `cache`, or one of its kind with what the book made of them."""
        if not _somebody_edits():
            return cache
        if self._cache is None:
            self._cache = cache
            if self._whole is not None:
                taken = self._whole.takes(self.features)
                if taken is not self.features:
                    self.features, self._cache = taken, type(cache)(taken)
        own, part = _inputs_of(column, self.features), self._part(column)
        taken = part.takes(own)
        return self._cache if taken is own else type(cache)({**self.features, **taken})

    def parts_given(
        self,
        name: str,
        parts: Sequence[ColumnSlot] | Sequence[ColumnTerm],
        tensors: Mapping[Any, Any],
        variables: Mapping[Any, Sequence[Any]],
    ) -> dict[Any, Any]:
        """Lets what the columns gave pass the book of layers.

        Args:
            name: the name of the layer that the columns stand in.
            parts: the columns, in the order of the output.
            tensors: column -> its own output; columns without one get no line.
            variables: column -> the variables it uses. Shared ones stand with each column.

        Returns:
            Column -> what the layer takes for its output.
        """
        self._name = name
        given = {}
        for part in parts:
            if part.column in tensors:
                if part.column not in self._parts:
                    self._part(part.column).takes(_inputs_of(part.column, self.features), changed_by=False)
                own = list(variables.get(part.column, ()))
                call, output = self._parts[part.column], tensors[part.column]
                given[part.column] = call.gives(output, variables=own, layer=part)
        return given

    def whole_given(self, outputs: Any, variables: Sequence[Any], layer: Any) -> Any:
        """Lets what the layer gave pass the book of layers; gives what its caller gets."""
        whole = self._whole or Calling(name=layer.name, kind=type(layer).__name__)
        if self._cache is None:
            whole.takes(self.features, changed_by=False)
        return whole.gives(outputs, variables=variables, name=layer.name, layer=layer)

    def _part(self, column: Any) -> Calling:
        name = f"{self._name_now()}/{column.name}"
        self._parts[column] = Calling(name=name, kind=type(column).__name__)
        return self._parts[column]

    def _name_now(self) -> str:
        """The name of the layer: TensorFlow opens a variable scope for each column, inside of the layer's."""
        return self._name or str(tf.compat.v1.get_variable_scope().name.rpartition("/")[0])


def _somebody_edits() -> bool:
    book = open_book()
    return book is not None and bool(book.edits)


def _reading(column: Any, cache_of: Callable[[Any, Any], Any]) -> Any:
    """A column, equal to the given one, that takes its features from what `cache_of` gives for it."""

    def asking(name: str) -> Any:
        def ask(self: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            return getattr(super(kind, self), name)(cache_of(column, inputs), *args, **kwargs)

        return ask

    own = {name: asking(name) for name in _ASKED_BY if hasattr(column, name)}
    kind: Any = type(type(column).__name__, (type(column),), {**own, "__slots__": ()})
    if isinstance(column, tuple):
        return tuple.__new__(kind, column)
    made = copy.copy(column)
    made.__class__ = kind
    return made


def with_shared(variables: Mapping[Any, Sequence[Any]]) -> dict[Any, list[Any]]:
    """Gives each column of a group made by `shared_embedding_columns` the group's table.

    TensorFlow reports it for the first column of the group only.
    """
    tables: dict[str, list[Any]] = {}
    complete = {column: list(found) for column, found in variables.items()}
    for column, found in complete.items():
        group = getattr(column, "shared_embedding_collection_name", None)
        if group is None:
            continue
        table = tables.setdefault(group, [v for v in found if _own_name(v) == "embedding_weights"])
        found.extend(v for v in table if not any(v is known for known in found))
    return complete


def _own_name(variable: Any) -> str:
    """The last part of a variable's name, that of the whole for a piece of a partitioned one."""
    return str(_tf.variable_name(variable).split("/part_")[0].rpartition("/")[2])


def _inputs_of(column: Any, features: Any) -> Any:
    """The features that a column reads."""
    return {key: features[key] for key in _parse_spec(column) if key in features}


def _parse_spec(column: Any) -> Mapping[str, Any]:
    """How a column's features are parsed, by their keys; columns of TensorFlow's older kind tell it otherwise."""
    if hasattr(type(column), "parse_example_spec"):
        return dict(column.parse_example_spec)
    inner = getattr(column, "categorical_column", None)  # of the newer kind, below one of `shared_embedding_columns`
    if inner is not None and hasattr(type(inner), "parse_example_spec"):
        return dict(inner.parse_example_spec)
    return dict(column._parse_example_spec)


def distinct(variables: Iterable[Any]) -> list[Any]:
    """The variables without repetitions; by identity, because variables compare element by element."""
    found: list[Any] = []
    for variable in variables:
        if not any(variable is known for known in found):
            found.append(variable)
    return found
