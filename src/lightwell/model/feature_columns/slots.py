"""Where a column's numbers stand in the tensor that a layer of columns makes.

Owns the small objects that the book of layers keeps for columns: `ColumnSlot` (a column of `input_layer`,
`DenseFeatures`, `SequenceFeatures`), `ColumnTerm` (a column of `linear_model`) and `ColumnsLayer` (the whole call of a
function, which has no layer object of its own). Takes columns and tensors; gives dataclasses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class ColumnSlot:
    """One column's share of a concatenated output: `output[..., start:end]`.

    Attributes:
        name: the column's own name, `city_indicator`.
        start: its first index in the last axis of the output.
        end: the index after its last.
        column: the feature column.
    """

    name: str
    start: int
    end: int
    column: Any

    @property
    def width(self) -> int:
        """How many numbers of the output are the column's."""
        return self.end - self.start


@dataclass(frozen=True, eq=False)
class ColumnTerm:
    """One column's term in the sum that a linear model is.

    Attributes:
        name: the column's own name.
        column: the feature column.
    """

    name: str
    column: Any


@dataclass(frozen=True, eq=False)
class ColumnsLayer:
    """One call of `input_layer` or `linear_model`.

    Attributes:
        name: the call's variable scope, `input_layer_1`.
        columns: a `ColumnSlot` or `ColumnTerm` per column, in the order of the output.
    """

    name: str
    columns: tuple[ColumnSlot, ...] | tuple[ColumnTerm, ...]


def slots_of(outputs: Mapping[Any, Any]) -> tuple[ColumnSlot, ...]:
    """The slots of columns whose outputs are concatenated in the order of the mapping."""
    slots, start = [], 0
    for column, tensor in outputs.items():
        end = start + int(tensor.shape[-1])
        slots.append(ColumnSlot(column.name, start, end, column))
        start = end
    return tuple(slots)


def width_of(column: Any) -> int:
    """How many numbers a dense column gives per example, or per step of a sequence."""
    return int(column.variable_shape.num_elements())
