"""Early stopping hooks stop where those of tf.estimator did; evaluations inside a training come when they did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.parity.recordings import load_json
from tests.parity.stopping_scenes import SCENES

import lightwell as lw

RECORDED: dict[str, Any] = load_json("stopping")["scenes"]


def test_every_scene_is_recorded() -> None:
    assert sorted(RECORDED) == sorted(SCENES)


@pytest.mark.parametrize("name", [name for name in SCENES if not name.startswith(("mistake", "InMemory"))])
def test_training_stops_at_the_recorded_step(name: str, tmp_path: Path) -> None:
    recorded, ours = RECORDED[name], SCENES[name](lw.estimator, tmp_path)
    lines = zip(recorded.pop("log", []), ours.pop("log", []), strict=True)
    assert ours == recorded
    assert all(our_line.startswith(recorded_line) for recorded_line, our_line in lines)


@pytest.mark.parametrize("name", [name for name in SCENES if name.startswith("mistake")])
def test_mistakes_raise_what_they_raised(name: str, tmp_path: Path) -> None:
    recorded, ours = RECORDED[name], SCENES[name](lw.estimator, tmp_path)
    assert ours["raised"] == recorded["raised"]
    assert recorded["text"].rstrip(".").removeprefix("Hooks ") in ours["text"]


@pytest.mark.parametrize("name", [name for name in SCENES if name.startswith("InMemory")])
def test_evaluations_in_memory_are_called_and_written_as_recorded(name: str, tmp_path: Path) -> None:
    recorded, ours = RECORDED[name], SCENES[name](lw.estimator, tmp_path)
    assert ours["calls"] == recorded["calls"]
    recorded_numbers, our_numbers = (
        [event for event in one["events"] if not isinstance(event, str)] for one in (recorded, ours)
    )
    assert [step for step, _ in our_numbers] == [step for step, _ in recorded_numbers]
    for (_, our_values), (_, recorded_values) in zip(our_numbers, recorded_numbers, strict=True):
        assert our_values == pytest.approx(recorded_values, rel=1e-6)
    assert ours["events"][:3] == recorded["events"][:3]
