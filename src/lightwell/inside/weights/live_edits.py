"""Weights of a training changed by hand between two steps: what `step.edit` of a watch does.

Takes a program and the session that runs it, which is used and left open. What was changed is written down in the
program, for the lineage of the next checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lightwell.base.keys import ModeKeys
from lightwell.errors import PathError, UsageError
from lightwell.foreign import private_tf
from lightwell.inside.paths.nearest import nearest_paths
from lightwell.inside.paths.optimizer_state import split_variables
from lightwell.inside.paths.sections.variables import SLOTS, WEIGHTS
from lightwell.inside.weights.weight_edits import difference, fitting
from lightwell.run.devices.synchronized_steps import has_synchronized_steps
from lightwell.run.engine.program import Program


class LiveEditor:
    """Changes weights of one program while it trains."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[str, list[Any]] | None = None

    @property
    def count(self) -> int:
        """The number of edits so far, by any watch."""
        return len(self._program.live_edits)

    def edit(self, run_context: Any, path: str, value: Any, step: int) -> None:
        """Gives a weight another value, before the next step.

        Args:
            run_context: that of the hook.
            path: `weights/dense/kernel`, `slots/dense/kernel/Adam`, or the name alone.
            value: an array, or a function of the present one.
            step: the global step.

        Raises:
            PathError: there is no such weight.
            UsageError: the shape or the type does not fit, or no training runs.
        """
        if self._program.mode != ModeKeys.TRAIN:
            raise UsageError(
                f"step.edit({path!r}): weights are changed while they are trained; this is {self._program.mode!r}. To "
                "change the trained model use est.edit()."
            )
        if has_synchronized_steps(self._program.graph):
            raise UsageError(
                f"step.edit({path!r}): all processes of the cluster take every step together, each with weights of its "
                "own; an edit in one of them would set them apart. End the training, use est.edit(), and start again."
            )
        full, pieces = self._resolve(path)
        before = _joined(pieces, run_context.fetch([private_tf.parts_of(piece)[0] for piece in pieces]))
        after = fitting(full, value(before.copy()) if callable(value) else value, before)
        change = difference(full, before, after, f"set at step {step}")
        if change is None:
            return
        # The graph is final, and has no op for this; what gives a variable its first value gives it any other.
        parts = [
            (part, after[private_tf.slice_in_whole(piece)]) for piece in pieces for part in private_tf.parts_of(piece)
        ]
        fed = {_first_value(full, part): value for part, value in parts}
        run_context.session.run([part.initializer for part, _ in parts], fed)
        self._program.live_edits.append(change)

    def _resolve(self, path: str) -> tuple[str, list[Any]]:
        if self._known is None:
            self._known = {}
            for section, variables in zip((WEIGHTS, SLOTS), split_variables(self._program.graph), strict=True):
                for variable in variables:
                    self._known.setdefault(f"{section}/{private_tf.whole_variable(variable)[0]}", []).append(variable)
        for full in (path, f"{WEIGHTS}/{path}", f"{SLOTS}/{path}"):
            if full in self._known:
                return full, self._known[full]
        close = nearest_paths(path, self._known) or list(self._known)[:5]
        raise PathError(f"step.edit: there is no weight {path!r} in this model. The nearest are {close}.")


def _joined(pieces: Sequence[Any], values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """The value of a whole variable, of which there may be pieces; a copy."""
    whole: np.ndarray[Any, Any] = np.zeros(private_tf.whole_variable(pieces[0])[1], np.asarray(values[0]).dtype)
    for piece, value in zip(pieces, values, strict=True):
        whole[private_tf.slice_in_whole(piece)] = value
    return whole


def _first_value(path: str, variable: Any) -> Any:
    """The tensor that a variable's initializer assigns."""
    if variable.initializer.type not in ("Assign", "AssignVariableOp"):
        raise UsageError(
            f"step.edit: {path} is initialised by {variable.initializer.type}, and cannot be assigned while it is "
            "trained. Stop the training, and use est.edit()."
        )
    return variable.initializer.inputs[1]
