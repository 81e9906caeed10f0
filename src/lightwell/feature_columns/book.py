"""Columns in the book of layers.

Owns how the columns of a call pass it: before the layer that they stand in, one line per column, named
`<layer>/<column name>`, whose `layer` is its slot or term. Takes each column's output; gives what the layer is made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lightwell import _tf
from lightwell.feature_columns.slots import ColumnSlot, ColumnTerm
from lightwell.layers.record import passed_outputs


def passed_parts(
    *,
    name: str,
    features: Any,
    parts: Sequence[ColumnSlot] | Sequence[ColumnTerm],
    tensors: Mapping[Any, Any],
    variables: Mapping[Any, Sequence[Any]],
) -> dict[Any, Any]:
    """Lets the columns of one call pass the book of layers.

    Args:
        name: the name of the layer that the columns stand in.
        features: what the layer was called with.
        parts: the columns, in the order of the output.
        tensors: column -> its own output; columns without one get no line.
        variables: column -> the variables it uses. Shared ones stand with each column.

    Returns:
        Column -> what the layer takes for its output.
    """
    return {
        part.column: passed_outputs(
            name=f"{name}/{part.name}",
            kind=type(part.column).__name__,
            inputs=_inputs_of(part.column, features),
            outputs=tensors[part.column],
            variables=list(variables.get(part.column, ())),
            layer=part,
        )
        for part in parts
        if part.column in tensors
    }


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
    # Columns of `shared_embedding_columns` are of TensorFlow's older kind, over a column of the newer one.
    told = column if hasattr(type(column), "parse_example_spec") else column.categorical_column
    return {key: features[key] for key in told.parse_example_spec if key in features}


def distinct(variables: Iterable[Any]) -> list[Any]:
    """The variables without repetitions; by identity, because variables compare element by element."""
    found: list[Any] = []
    for variable in variables:
        if not any(variable is known for known in found):
            found.append(variable)
    return found
