"""The run of `est.ablate`: one evaluation for each zeroed unit of a layer, in one program that is built once.

The index of the zeroed unit is a variable outside the model, so the session and the weights are reused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lightwell.base.keys import GLOBAL_STEP, ModeKeys
from lightwell.errors import UnknownMetric, UsageError
from lightwell.estimator.repeated_run import RepeatedRun
from lightwell.inside.edits.ablation import Ablation
from lightwell.inside.edits.changes import Changes
from lightwell.inside.edits.edit_numbers import EditVariables
from lightwell.inside.edits.kinds import Zero
from lightwell.inside.paths.nearest import nearest_paths
from lightwell.run.hooks.show_progress import counted

if TYPE_CHECKING:
    from lightwell.estimator.verbs import ModelDefinition

_WHERE = "ablate"
_PER = ("channel", "unit")


class _ZeroUnits(Zero):
    """Zeroes some units of a value."""

    def __repr__(self) -> str:  # the units change with each evaluation
        return f"the units of {self.path!r}"


def ablate(
    model: ModelDefinition,
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
    numbers = EditVariables()
    changes = Changes([_ZeroUnits(path, **{per: []})], ModeKeys.EVAL, _WHERE, numbers)
    with contextlib.closing(
        RepeatedRun(model, ModeKeys.EVAL, input_fn, steps, (), None, changes, _WHERE)
    ) as evaluation:
        matches = changes.gate[0].met
        if len({match.path for match in matches}) > 1:  # each replica has a match of the same path
            raise UsageError(
                f"{_WHERE}: {path!r} means several values, {[match.path for match in matches][:5]}. Name one of them."
            )
        all_units = _all_units(matches[0].before.shape.as_list()[1:], per) if units is None else list(units)

        def evaluate(zeroed: list[Any]) -> dict[str, Any]:
            numbers.put([_ZeroUnits(path, **{per: zeroed})])
            return evaluation.run(checkpoint, exact=bool(checkpoint_path))

        baseline = evaluate([])
        names = _metric_names(baseline, metrics)
        values = {name: np.zeros(len(all_units)) for name in names}
        with counted(f"{_WHERE} {matches[0].path}", f"{per}s", len(all_units)) as advance:
            for index, unit in enumerate(all_units):
                result = evaluate([unit])
                for name in names:
                    values[name][index] = result[name]
                advance()
    return Ablation(
        matches[0].path,
        per,
        tuple(all_units),
        {name: float(baseline[name]) for name in names},
        values,
        int(baseline[GLOBAL_STEP]),
    )


def _all_units(sizes: Sequence[int], per: str) -> list[Any]:
    if per == "channel":
        return list(range(sizes[-1]))
    return list(range(sizes[0])) if len(sizes) == 1 else list(np.ndindex(*sizes))


def _metric_names(baseline: Mapping[str, Any], metrics: Sequence[str] | str | None) -> list[str]:
    """The requested metrics, else all that are numbers."""
    numbers = [name for name, value in baseline.items() if np.size(value) == 1 and name != GLOBAL_STEP]
    names = numbers if metrics is None else [metrics] if isinstance(metrics, str) else list(metrics)
    for name in names:
        if name not in numbers:
            raise UnknownMetric(name, numbers, nearest_paths(name, numbers), f"{_WHERE}: evaluations")
    return names
