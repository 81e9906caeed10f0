"""Variables and lookup tables of the columns of a layer.

`ColumnState` is what TensorFlow's columns call the state manager; they call its methods by the argument names below. It
knows no Keras, and is a plain object because Keras and TensorFlow would wrap the dictionaries of a layer.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.model.layers.variables import pieces_of


class _Eagerly:
    """Stands for the place of tables that belong to no graph."""


_EAGERLY = _Eagerly()


@dataclass(frozen=True)
class VariableSpec:
    """A variable that a column requests; the fields are those of `tf.compat.v1.get_variable`."""

    column: Any
    name: str
    shape: tuple[int, ...]
    dtype: Any
    trainable: bool
    initializer: Any


class ColumnState:
    """The columns of one layer, their variables and tables, and their last outputs.

    Args:
        columns: the columns, in the order of the output.
        make_variable: creates a requested variable, of Keras or of TensorFlow.
    """

    def __init__(self, columns: Sequence[Any], make_variable: Callable[[VariableSpec], Any]) -> None:
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
        """Creates a variable for a column. All are resource variables, whatever `use_resource` says."""
        spec = VariableSpec(feature_column, name, tuple(shape), tf.as_dtype(dtype or "float32"), trainable, initializer)
        variable = self._variables[feature_column, name] = self._make_variable(spec)
        return variable

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """The variable of a column by its name."""
        return _inside(self._variables[feature_column, name])

    def variables_of(self, feature_column: Any) -> list[Any]:
        """The variables that a column reads, in pieces where they are partitioned."""
        own = [_inside(variable) for variable in self._variables_for(feature_column)]
        creator = _shared_by(feature_column)
        shared = [] if creator is None else [creator.embedding_weights]
        return [piece for variable in own + shared for piece in pieces_of(variable)]

    def partitioned_of(self, feature_column: Any) -> list[Any]:
        """The pieces of the partitioned variables of a column."""
        return [piece for v in self._variables_for(feature_column) if hasattr(v, "as_tensor") for piece in pieces_of(v)]

    def shared_tables(self) -> dict[str, Any]:
        """The embeddings of `tf.feature_column.shared_embeddings` columns in the current graph.

        Each is listed under the first column that uses it, and created on first use.
        """
        creators = {id(_shared_by(column)): column for column in reversed(self.columns) if _shared_by(column)}
        return {column.name: _shared_by(column).embedding_weights for column in creators.values()}

    def add_resource(self, feature_column: Any, resource_name: str, resource: Any) -> None:
        """Stores a column's lookup table."""
        self._tables_here()[feature_column, resource_name] = resource

    def has_resource(self, feature_column: Any, resource_name: str) -> bool:
        """Whether a column's lookup table exists here."""
        return (feature_column, resource_name) in self._tables_here()

    def get_resource(self, feature_column: Any, resource_name: str) -> Any:
        """A column's lookup table."""
        return self._tables_here()[feature_column, resource_name]

    def _variables_for(self, feature_column: Any) -> list[Any]:
        return [variable for (column, _), variable in self._variables.items() if column == feature_column]

    def _tables_here(self) -> dict[tuple[Any, str], Any]:
        """The tables of the current graph; those created while a function is traced belong to its caller."""
        with tf.init_scope():
            place = _EAGERLY if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        return self._tables.setdefault(place, {})


def _inside(variable: Any) -> Any:
    """The TensorFlow variable of a Keras variable; looked up late, because Keras may create it late."""
    return getattr(variable, "value", variable) if hasattr(variable, "path") else variable


def _shared_by(column: Any) -> Any:
    """The creator of the embedding that a column shares; None for a column that shares none."""
    return getattr(column, "shared_embedding_column_creator", None)
