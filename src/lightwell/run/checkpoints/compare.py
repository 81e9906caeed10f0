"""Compares a checkpoint with the variables of a model.

Takes a checkpoint prefix and the variables that a restore will read; raises with a table of the differences.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import tensorflow as tf

from lightwell.base.printable import printable
from lightwell.base.tables import Table
from lightwell.errors import CheckpointMismatch
from lightwell.run.checkpoints.reader import open_checkpoint

Shape = tuple[int | None, ...]
_MOST_ROWS = 30


class MissingVariables(CheckpointMismatch, tf.errors.NotFoundError):
    """A checkpoint lacks variables of the model; also what TensorFlow's saver raises for that."""

    def __init__(self, message: str) -> None:
        tf.errors.NotFoundError.__init__(self, None, None, message)


class OtherForms(CheckpointMismatch, tf.errors.InvalidArgumentError):
    """A checkpoint has variables of the model in other shapes or types; also what TensorFlow raises for that."""

    def __init__(self, message: str) -> None:
        tf.errors.InvalidArgumentError.__init__(self, None, None, message)


@dataclass(frozen=True)
class ValueSpec:
    """A variable's shape and type."""

    shape: Shape
    dtype: tf.DType

    def takes(self, other: ValueSpec) -> bool:
        """Whether a value of the other spec can be assigned to a variable of this one."""
        same_rank = len(self.shape) == len(other.shape)
        fits = same_rank and all(w is None or w == s for w, s in zip(self.shape, other.shape, strict=True))
        return fits and self.dtype == other.dtype

    def shown(self, with_type: bool) -> str:
        """The spec as text, the type only where it matters."""
        shape = "[" + ", ".join("?" if size is None else str(size) for size in self.shape) + "]"
        return f"{shape} {self.dtype.name}" if with_type else shape


@dataclass(frozen=True)
class VariableMismatch:
    """One variable that does not fit: its spec in the model and in the checkpoint, None where it is absent."""

    name: str
    in_model: ValueSpec | None
    in_checkpoint: ValueSpec | None

    def row(self) -> tuple[str, str, str]:
        """The line of a table."""
        types = {form.dtype for form in (self.in_model, self.in_checkpoint) if form is not None}
        shown = ["-" if f is None else f.shown(with_type=len(types) > 1) for f in (self.in_model, self.in_checkpoint)]
        return printable(self.name), shown[0], shown[1]


def check_fits(prefix: str, variables: Iterable[tuple[str, ValueSpec]], model_dir_hint: str = "") -> None:
    """Checks that every variable is in the checkpoint with the same shape and type.

    Raises:
        MissingVariables, OtherForms: with a table of what differs.
    """
    reader = open_checkpoint(prefix)
    dtypes = reader.get_variable_to_dtype_map()
    stored = {name: ValueSpec(tuple(shape), dtypes[name]) for name, shape in reader.get_variable_to_shape_map().items()}
    specs = dict(variables)
    differences = [
        VariableMismatch(name, form, stored.get(name))
        for name, form in specs.items()
        if name not in stored or not form.takes(stored[name])
    ]
    if not differences:
        return
    # What only the checkpoint has is harmless by itself, but beside a missing name it is the likely new spelling.
    spare = [VariableMismatch(name, None, form) for name, form in sorted(stored.items()) if name not in specs]
    text = (
        f"Checkpoint {prefix} does not fit this model: {len(differences)} of {len(specs)} variables differ.\n"
        f"{_table([*differences, *spare])}\n"
        "Use the model_fn and params it was trained with, or another model_dir; to take over the weights that still "
        "fit, start a new model_dir with warm_start_from." + model_dir_hint
    )
    missing = [difference.name for difference in differences if difference.in_checkpoint is None]
    if missing:
        raise MissingVariables(f"Restoring from checkpoint failed: Key {missing[0]} not found in checkpoint. {text}")
    raise OtherForms(
        "Restoring from checkpoint failed: a mismatch between the current graph and the graph from the checkpoint. "
        f"{text}"
    )


def _table(differences: list[VariableMismatch]) -> str:
    rows = [difference.row() for difference in differences[:_MOST_ROWS]]
    lines = [f"  {line}" for line in Table(("variable", "model", "checkpoint"), rows).lines()]
    if len(differences) > _MOST_ROWS:
        lines.append(f"  … and {len(differences) - _MOST_ROWS} more")
    return "\n".join(lines)
