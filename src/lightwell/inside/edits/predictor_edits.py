"""Edits in `est.predictor()`: a program for each form of edits, their numbers fed with each call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lightwell.base.keys import ModeKeys
from lightwell.inside.edits.base import Edit
from lightwell.inside.edits.changes import Changes, checked_edits
from lightwell.inside.edits.edit_numbers import EditPlaceholders
from lightwell.inside.edits.measure import changed_of, warn_idle
from lightwell.run.engine.program import Program

WHERE = "predictor(edits=...)"


class EditedProgram:
    """A prediction program with edits in it, for calls that bring edits of the same forms.

    Args:
        edits: edits of these forms.
        build: builds the program with functions for the gate; gives it and the structure that a call's input is fed to.

    Attributes:
        program: the program.
        feeds: the structure of tensors that a call's input is fed to.
        tensors: what the numbers of the edits are fed to.
        counts: of each edit, by its place, the tensor that tells how much it changed.
    """

    def __init__(self, edits: Sequence[Edit], build: Callable[[Sequence[Any]], tuple[Program, Any]]) -> None:
        numbers = EditPlaceholders()
        self._changes = Changes(edits, ModeKeys.PREDICT, WHERE, numbers)
        program, self.feeds = build(self._changes.gate)
        self.program = self._changes.finished(program)
        self.counts = self._changes.counts(self.program)
        self._numbers = numbers
        self.tensors = numbers.tensors

    def arrays(self, edits: Sequence[Edit], batch: int | None) -> list[Any]:
        """What to feed for the edits of a call with so many examples."""
        return self._numbers.arrays(edits, batch)

    def tell(self, edits: Sequence[Edit], counts: dict[str, Any]) -> None:
        """Says so where an edit of a call changed nothing."""
        for place, fetched in counts.items():
            changed, of = changed_of(fetched)
            if of and not changed:
                warn_idle(WHERE, repr(edits[int(place)]), self._changes.paths(int(place)), of, 1)


class PredictorEdits:
    """Makes programs with edits for one predictor.

    Args:
        build: as for `EditedProgram`.
    """

    def __init__(self, build: Callable[[Sequence[Any]], tuple[Program, Any]]) -> None:
        self._build = build

    def checked(self, edits: Any) -> tuple[Edit, ...]:
        """The edits of a call."""
        return checked_edits(edits, WHERE)

    def program(self, edits: Sequence[Edit]) -> EditedProgram:
        """A program for edits of these forms."""
        return EditedProgram(edits, self._build)
