"""What columns ask of the layer they stand in: variables and lookup tables, kept per column.

Owns `ColumnState`, which plays the part that TensorFlow's columns call the state manager; they call its methods by the
argument names below. Takes the function that makes a variable; knows no Keras. It is a plain object on purpose: Keras
and TensorFlow would wrap the dictionaries of a layer and rebuild its columns.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.layers.variables import pieces_of


class _Eagerly:
    """Stands for the place of tables that belong to no graph."""


_EAGERLY = _Eagerly()


@dataclass(frozen=True)
class Wanted:
    """A variable that a column asks for; the fields are those of `tf.compat.v1.get_variable`."""

    column: Any
    name: str
    shape: tuple[int, ...]
    dtype: Any
    trainable: bool
    initializer: Any


class ColumnState:
    """The columns of one layer, their variables and tables, and what they last gave.

    Args:
        columns: the columns, in the order of the output.
        make_variable: makes what a column wants, as a variable of Keras or of TensorFlow.
    """

    def __init__(self, columns: Sequence[Any], make_variable: Callable[[Wanted], Any]) -> None:
        self.columns = tuple(columns)
        self.tensors: dict[Any, Any] = {}
        self._make_variable = make_variable
        self._variables: dict[tuple[Any, str], Any] = {}
        self._tables: weakref.WeakKeyDictionary[Any, dict[tuple[Any, str], Any]] = weakref.WeakKeyDictionary()

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Makes a variable for a column. All are resource variables, whatever `use_resource` says."""
        wanted = Wanted(feature_column, name, tuple(shape), tf.as_dtype(dtype or "float32"), trainable, initializer)
        variable = self._variables[feature_column, name] = self._make_variable(wanted)
        return variable

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """The variable that was made for a column under that name."""
        return _inside(self._variables[feature_column, name])

    def variables_of(self, feature_column: Any) -> list[Any]:
        """The variables that a column reads, in pieces where they are partitioned."""
        own = [_inside(variable) for variable in self._made_for(feature_column)]
        creator = _shared_by(feature_column)
        shared = [] if creator is None else [creator.embedding_weights]
        return [piece for variable in own + shared for piece in pieces_of(variable)]

    def partitioned_of(self, feature_column: Any) -> list[Any]:
        """The pieces of the partitioned variables that were made for a column."""
        return [piece for v in self._made_for(feature_column) if hasattr(v, "as_tensor") for piece in pieces_of(v)]

    def shared_tables(self) -> dict[str, Any]:
        """The embeddings that columns made by `tf.feature_column.shared_embeddings` share, in the current graph.

        Each stands under the name of the first column that uses it, and is made when first asked for.
        """
        creators = {id(_shared_by(column)): column for column in reversed(self.columns) if _shared_by(column)}
        return {column.name: _shared_by(column).embedding_weights for column in creators.values()}

    def add_resource(self, feature_column: Any, resource_name: str, resource: Any) -> None:
        """Keeps a column's lookup table."""
        self._tables_here()[feature_column, resource_name] = resource

    def has_resource(self, feature_column: Any, resource_name: str) -> bool:
        """Whether a column's lookup table exists here."""
        return (feature_column, resource_name) in self._tables_here()

    def get_resource(self, feature_column: Any, resource_name: str) -> Any:
        """A column's lookup table."""
        return self._tables_here()[feature_column, resource_name]

    def _made_for(self, feature_column: Any) -> list[Any]:
        return [variable for (column, _), variable in self._variables.items() if column == feature_column]

    def _tables_here(self) -> dict[tuple[Any, str], Any]:
        """Tables belong to the graph that they were made in; those made while a function is traced, to its caller."""
        with tf.init_scope():
            place = _EAGERLY if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        return self._tables.setdefault(place, {})


def _inside(variable: Any) -> Any:
    """TensorFlow's variable inside of Keras' one; asked for late, because Keras may make it late."""
    return getattr(variable, "value", variable) if hasattr(variable, "path") else variable


def _shared_by(column: Any) -> Any:
    """What makes the embedding that a column shares with others; None for a column that shares none."""
    return getattr(column, "shared_embedding_column_creator", None)
