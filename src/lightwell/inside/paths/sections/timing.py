"""Timing: how long a step takes, and how many examples pass in a second. Measured by whoever runs the steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lightwell.inside.paths.sections.base import Entry, Section
from lightwell.run.engine.program import Program

if TYPE_CHECKING:
    from lightwell.inside.paths.catalogue import Catalogue

_STEP = "timing/step"
_EXAMPLES = "timing/examples_per_second"


class Timing(Section):
    """Numbers that are measured around the steps, and no tensors."""

    name = "timing"
    is_offered = False
    is_measured = True
    not_tapped = "is measured, not computed; read it with a Watch."

    def entries(self, catalogue: Catalogue) -> dict[str, Entry]:
        return {path: Entry(path, self) for path in (_STEP, _EXAMPLES)}

    def holds_numbers(self, entry: Entry) -> bool:
        return True

    def fetches(self, program: Program, entries: Sequence[Entry], where: str) -> dict[str, Any]:
        return {}

    def needs_batch_size(self, entry: Entry) -> bool:
        """Whether measuring it takes the number of examples in a batch."""
        return entry.path == _EXAMPLES

    def measured(self, steps: int, seconds: float, batch_size: int | None = None) -> dict[str, float]:
        """The values by path.

        Args:
            steps: how many steps ran.
            seconds: how long they took.
            batch_size: how many examples a step takes, where that is known.
        """
        steps, seconds = max(steps, 1), max(seconds, 1e-9)
        values = {_STEP: seconds / steps}
        return values if batch_size is None else {**values, _EXAMPLES: batch_size * steps / seconds}


TIMING = Timing()
