"""Of programs and schedules drawn at random, fused and single steps agree in all bits, and looking changes nothing."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import hypothesis
from tests.contracts.programs import Drawn, Schedule, programs, schedules, trained
from tests.faces import FUSED, SINGLE

FEW = hypothesis.settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)


def _trained(face: Any, drawn: Drawn, schedule: Schedule) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return trained(face, Path(folder) / "model_dir", drawn, schedule)


@FEW
@hypothesis.given(drawn=programs(), schedule=schedules())
@hypothesis.example(
    drawn=Drawn(("one function called twice",), "plain", "gradient descent"),
    schedule=Schedule(watches=(2,), hook=0, checkpoints=9, summaries=7, calls=(40,)),
)
def test_fused_and_single_agree_and_looking_changes_nothing(drawn: Drawn, schedule: Schedule) -> None:
    fused, single = _trained(FUSED, drawn, schedule), _trained(SINGLE, drawn, schedule)
    for what in single:
        assert fused[what] == single[what], what
    if schedule.watches or schedule.hook:
        alone = _trained(FUSED, drawn, dataclasses.replace(schedule, watches=(), hook=0))
        assert alone["weights"] == single["weights"]
        assert alone["losses"] == single["losses"]
