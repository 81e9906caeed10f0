"""A model on disk as sections see it: its description, and the names in a checkpoint. Plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightwell.inside.paths.describe import Description, LayerInfo, ValueInfo


@dataclass(frozen=True)
class OnDisk:
    """What is known of a model without its program.

    Attributes:
        description: its layers, inputs and predictions, as training saw them.
        weights: names of weights in the checkpoint.
        slots: names of optimizer state there.
    """

    description: Description
    weights: Sequence[str]
    slots: Sequence[str]


@dataclass(frozen=True)
class StoredValue:
    """A value of a model on disk.

    Attributes:
        path: the path.
        layer: the layer, if it is one, or the one a weight belongs to.
        value: shape and type, for a feature, a label or a prediction.
        variables: the variable itself, or those of the layer, by their names in a checkpoint.
    """

    path: str
    layer: LayerInfo | None = None
    value: ValueInfo | None = None
    variables: tuple[str, ...] = ()

    @property
    def is_input(self) -> bool:
        """A layer's input is part of the layer here, and has no path of its own."""
        return False
