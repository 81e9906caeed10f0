"""What `est.ablate` runs: one evaluation for each unit of a layer, zeroed, in one program that is built once.

Which unit is zeroed is a number beside the graph; the session, its optimised graph and the weights stay.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lightwell.edits.ablation import Ablation
from lightwell.edits.changes import Changes
from lightwell.edits.held import InVariables
from lightwell.edits.kinds import Zero
from lightwell.errors import UnknownMetric, UsageError
from lightwell.estimator.held_run import HeldRun
from lightwell.hooks.show_progress import counted
from lightwell.keys import GLOBAL_STEP, ModeKeys
from lightwell.sight.nearest import nearest_paths

if TYPE_CHECKING:
    from lightwell.estimator.verbs import Model

_WHERE = "ablate"
_PER = ("channel", "unit")


class _Without(Zero):
    """The value without some of its parts."""

    def __repr__(self) -> str:  # which parts those are changes from evaluation to evaluation
        return f"the units of {self.path!r}"


def ablate(
    model: Model,
    input_fn: Any,
    path: Any,
    per: str,
    metrics: Sequence[str] | str | None,
    units: Sequence[Any] | None,
    steps: int | None,
    checkpoint_path: Any,
) -> Ablation:
    """Evaluates a checkpoint with nothing zeroed, and with each unit of a value zeroed."""
    if per not in _PER:
        raise UsageError(f"{_WHERE}: per must be 'channel' (of the last dimension) or 'unit', got {per!r}.")
    checkpoint = model.checkpoint_for(checkpoint_path, "evaluate")
    held = InVariables()
    changes = Changes([_Without(path, **{per: []})], ModeKeys.EVAL, _WHERE, held)
    with contextlib.closing(HeldRun(model, ModeKeys.EVAL, input_fn, steps, (), None, changes, _WHERE)) as evaluation:
        met = changes.gate[0].met
        if len({one.path for one in met}) > 1:  # a replica each has the same
            raise UsageError(
                f"{_WHERE}: {path!r} means several values, {[one.path for one in met][:5]}. Name one of them."
            )
        chosen = _units(met[0].before.shape.as_list()[1:], per) if units is None else list(units)

        def evaluate(chosen: list[Any]) -> dict[str, Any]:
            held.put([_Without(path, **{per: chosen})])
            return evaluation.run(checkpoint, exact=bool(checkpoint_path))

        baseline = evaluate([])
        names = _names(baseline, metrics)
        found = {name: np.zeros(len(chosen)) for name in names}
        with counted(f"{_WHERE} {met[0].path}", f"{per}s", len(chosen)) as told:
            for place, unit in enumerate(chosen):
                result = evaluate([unit])
                for name in names:
                    found[name][place] = result[name]
                told()
    return Ablation(
        met[0].path,
        per,
        tuple(chosen),
        {name: float(baseline[name]) for name in names},
        found,
        int(baseline[GLOBAL_STEP]),
    )


def _units(sizes: Sequence[int], per: str) -> list[Any]:
    if per == "channel":
        return list(range(sizes[-1]))
    return list(range(sizes[0])) if len(sizes) == 1 else list(np.ndindex(*sizes))


def _names(baseline: Mapping[str, Any], asked: Sequence[str] | str | None) -> list[str]:
    """The metrics to keep: those asked for, else all that are numbers."""
    numbers = [name for name, value in baseline.items() if np.size(value) == 1 and name != GLOBAL_STEP]
    wanted = numbers if asked is None else [asked] if isinstance(asked, str) else list(asked)
    for name in wanted:
        if name not in numbers:
            raise UnknownMetric(name, numbers, nearest_paths(name, numbers), f"{_WHERE}: evaluations")
    return wanted
