"""Columns in the book of layers.

`ColumnsAtBook` is one call of a layer over columns. The inputs and the output of each column pass the book as a call
named `<layer>/<column name>`, whose `layer` is the column's slot or term.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_tf
from lightwell.model.feature_columns.slots import ColumnSlot, ColumnTerm
from lightwell.model.layers.record import BookCall, open_book

# The methods by which TensorFlow's functions get the output of a column.
_OUTPUT_METHODS = ("_get_dense_tensor", "_get_sparse_tensors")


class ColumnsAtBook:
    """One call of a layer over columns, at the book of layers.

    Args:
        features: feature key -> tensor, the inputs of the layer.
        kind: the kind of the layer; None if the layer itself passes the book elsewhere.
        name: its name; None if it is read from the variable scope of the first column.

    Attributes:
        features: the features after edits.
    """

    def __init__(self, features: Mapping[str, Any], kind: str | None = None, name: str | None = None) -> None:
        self.features = features
        self._name = name
        self._whole = None if kind is None else BookCall(name=self._name_now, kind=kind)
        self._parts: dict[Any, BookCall] = {}
        self._cache: Any = None

    def reading(self, columns: Any) -> Any:
        """Columns for a function of TensorFlow that read features after edits; the same columns without edits."""
        if not _has_edits() or not isinstance(columns, list | tuple):
            return columns
        return [_reading(column, self.cache_of) for column in columns]

    def cache_of(self, column: Any, cache: Any) -> Any:
        """The cache that a column reads its features from: `cache`, or a new one with the features after edits."""
        if not _has_edits():
            return cache
        if self._cache is None:
            self._cache = cache
            if self._whole is not None:
                taken = self._whole.pass_inputs(self.features)
                if taken is not self.features:
                    self.features, self._cache = taken, type(cache)(taken)
        own, part = _inputs_of(column, self.features), self._part(column)
        taken = part.pass_inputs(own)
        return self._cache if taken is own else type(cache)({**self.features, **taken})

    def pass_columns(
        self,
        name: str,
        parts: Sequence[ColumnSlot] | Sequence[ColumnTerm],
        tensors: Mapping[Any, Any],
        variables: Mapping[Any, Sequence[Any]],
    ) -> dict[Any, Any]:
        """Passes the outputs of the columns through the book.

        Args:
            name: the name of the layer of the columns.
            parts: the columns, in the order of the output.
            tensors: column -> its output; columns without one are not recorded.
            variables: column -> the variables it uses, shared ones with each column.

        Returns:
            Column -> its output after edits.
        """
        self._name = name
        outputs = {}
        for part in parts:
            if part.column in tensors:
                if part.column not in self._parts:
                    self._part(part.column).pass_inputs(_inputs_of(part.column, self.features), editable=False)
                own = list(variables.get(part.column, ()))
                call, output = self._parts[part.column], tensors[part.column]
                outputs[part.column] = call.pass_outputs(output, variables=own, layer=part)
        return outputs

    def pass_layer(self, outputs: Any, variables: Sequence[Any], layer: Any) -> Any:
        """Passes the outputs of the layer through the book; returns them after edits."""
        whole = self._whole or BookCall(name=layer.name, kind=type(layer).__name__)
        if self._cache is None:
            whole.pass_inputs(self.features, editable=False)
        return whole.pass_outputs(outputs, variables=variables, name=layer.name, layer=layer)

    def _part(self, column: Any) -> BookCall:
        name = f"{self._name_now()}/{column.name}"
        self._parts[column] = BookCall(name=name, kind=type(column).__name__)
        return self._parts[column]

    def _name_now(self) -> str:
        """The name of the layer: TensorFlow opens a variable scope for each column, inside of the layer's."""
        return self._name or str(tf.compat.v1.get_variable_scope().name.rpartition("/")[0])


def _has_edits() -> bool:
    book = open_book()
    return book is not None and bool(book.edits)


def _reading(column: Any, cache_of: Callable[[Any, Any], Any]) -> Any:
    """An equal column that reads its features from `cache_of(column, cache)`."""

    def asking(name: str) -> Any:
        def ask(self: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            return getattr(super(kind, self), name)(cache_of(column, inputs), *args, **kwargs)

        return ask

    own = {name: asking(name) for name in _OUTPUT_METHODS if hasattr(column, name)}
    kind: Any = type(type(column).__name__, (type(column),), {**own, "__slots__": ()})
    if isinstance(column, tuple):
        return tuple.__new__(kind, column)
    duplicate = copy.copy(column)
    duplicate.__class__ = kind
    return duplicate


def with_shared(variables: Mapping[Any, Sequence[Any]]) -> dict[Any, list[Any]]:
    """Adds the table of a group of `shared_embedding_columns` to each of its columns.

    TensorFlow reports it for the first column of the group only.
    """
    tables: dict[str, list[Any]] = {}
    complete = {column: list(own) for column, own in variables.items()}
    for column, own in complete.items():
        group = getattr(column, "shared_embedding_collection_name", None)
        if group is None:
            continue
        table = tables.setdefault(group, [v for v in own if _own_name(v) == "embedding_weights"])
        own.extend(v for v in table if not any(v is known for known in own))
    return complete


def _own_name(variable: Any) -> str:
    """The last part of a variable's name, that of the whole for a piece of a partitioned one."""
    return str(private_tf.variable_name(variable).split("/part_")[0].rpartition("/")[2])


def _inputs_of(column: Any, features: Any) -> Any:
    """The features that a column reads."""
    return {key: features[key] for key in _parse_spec(column) if key in features}


def _parse_spec(column: Any) -> Mapping[str, Any]:
    """Feature key -> parser of a column; columns of TensorFlow's older kind store it in a private attribute."""
    if hasattr(type(column), "parse_example_spec"):
        return dict(column.parse_example_spec)
    inner = getattr(column, "categorical_column", None)  # of the newer kind, below one of `shared_embedding_columns`
    if inner is not None and hasattr(type(inner), "parse_example_spec"):
        return dict(inner.parse_example_spec)
    return dict(column._parse_example_spec)


def distinct(variables: Iterable[Any]) -> list[Any]:
    """The variables without repetitions; by identity, because variables compare element by element."""
    unique: list[Any] = []
    for variable in variables:
        if not any(variable is known for known in unique):
            unique.append(variable)
    return unique
