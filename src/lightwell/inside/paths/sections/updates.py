"""Updates: what a step changed in a weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lightwell.base.keys import ModeKeys
from lightwell.inside.paths.sections.base import Entry, Section
from lightwell.inside.paths.sections.variables import WEIGHTS, after_the_step
from lightwell.run.engine.program import Program

if TYPE_CHECKING:
    from lightwell.inside.paths.catalogue import Catalogue


class Updates(Section):
    """`updates/` and the path of a weight: its value after the step less the one before."""

    name = "updates"
    also_called = ("update",)
    modes = (ModeKeys.TRAIN,)
    absent_elsewhere = "weights change in training only. Watch it in train."
    is_mirror = True
    is_a_change = True
    not_tapped = "is the change that a training step makes; read it with a Watch."

    def entries(self, catalogue: Catalogue) -> dict[str, Entry]:
        if catalogue.program.mode not in self.modes:
            return {}
        weights = catalogue.section(WEIGHTS).values()
        return {path: Entry(path, self, source=one) for one in weights for path in [f"{self.name}/{one.path}"]}

    def fetches(self, program: Program, entries: Sequence[Entry], where: str) -> dict[str, Any]:
        """The weights after the step; who asks knows those before it."""
        return {entry.path: after_the_step(program, entry.prototype) for entry in entries}


UPDATES = Updates()
