"""A checkpoint against the variables of a model: does it fit, and if not, in what way?

Takes a checkpoint prefix and the (name, shape) pairs a restore will ask for; raises with a table of what differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lightwell.checkpoints.reader import open_checkpoint
from lightwell.errors import CheckpointMismatch

Shape = tuple[int | None, ...]
_MOST_ROWS = 30


@dataclass(frozen=True)
class Difference:
    """One variable that does not fit: its shape in the model and in the checkpoint, None where it is absent."""

    name: str
    in_model: Shape | None
    in_checkpoint: Shape | None


def check_fits(prefix: str, wanted: Iterable[tuple[str, Shape]], model_dir_hint: str = "") -> None:
    """Checks that every wanted variable is in the checkpoint with the same shape.

    Raises:
        CheckpointMismatch: with a table of what differs.
    """
    stored = {name: tuple(shape) for name, shape in open_checkpoint(prefix).get_variable_to_shape_map().items()}
    wanted_shapes = dict(wanted)
    differences = [
        Difference(name, shape, stored.get(name))
        for name, shape in wanted_shapes.items()
        if name not in stored or not _same(shape, stored[name])
    ]
    if not differences:
        return
    # What only the checkpoint has is harmless by itself, but beside a missing name it is the likely new spelling.
    spare = [Difference(name, None, shape) for name, shape in sorted(stored.items()) if name not in wanted_shapes]
    raise CheckpointMismatch(
        f"Checkpoint {prefix} does not fit this model: {len(differences)} of {len(wanted_shapes)} variables differ.\n"
        f"{_table([*differences, *spare])}\n"
        "Use the model_fn and params it was trained with, or another model_dir; to take over the weights that still "
        "fit, start a new model_dir with warm_start_from." + model_dir_hint
    )


def _same(wanted: Shape, stored: Shape) -> bool:
    return len(wanted) == len(stored) and all(w is None or w == s for w, s in zip(wanted, stored, strict=True))


def _table(differences: list[Difference]) -> str:
    rows = [("variable", "model", "checkpoint")]
    rows += [(d.name, _shown(d.in_model), _shown(d.in_checkpoint)) for d in differences[:_MOST_ROWS]]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    if len(differences) > _MOST_ROWS:
        lines.append(f"  … and {len(differences) - _MOST_ROWS} more")
    return "\n".join(lines)


def _shown(shape: Shape | None) -> str:
    return "-" if shape is None else "[" + ", ".join("?" if d is None else str(d) for d in shape) + "]"
