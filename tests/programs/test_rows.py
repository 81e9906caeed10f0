"""Old programs that feed arrays and frames run unmodified, and print what they printed with tf.estimator 2.15.1."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.parity import recordings
from tests.programs.batch import Batch
from tests.programs.row_programs import NOT_RECORDED, PROGRAMS, arguments

RECORDED = recordings.load_json("row_programs")["programs"]
NAMES = [program.stem for program in PROGRAMS]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("row_programs")
    commands = {
        program.stem: ["lightwell", "run", str(program), *arguments(program, folder / program.stem)]
        for program in PROGRAMS
    }
    return Batch(folder, commands).outcomes()


def test_all_are_here() -> None:
    assert len(NAMES) == 10
    assert sorted({*RECORDED, *NOT_RECORDED}) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_program_prints_what_it_did(name: str, outcomes: dict[str, Any]) -> None:
    outcome = outcomes[name]
    assert outcome["code"] == 0, outcome["err"]
    found = json.loads(outcome["out"].splitlines()[-1])
    if name in NOT_RECORDED:
        assert found == {"global_step": 100, "small": True, "all rows": True, "in order": False}
    else:
        assert found == _close(RECORDED[name])


def _close(recorded: dict[str, Any]) -> dict[str, Any]:
    """Numbers within rounding: kernels differ in the last bits between releases."""
    return {
        key: pytest.approx(value, rel=1e-3, abs=2e-3) if _is_numbers(value) else value
        for key, value in recorded.items()
    }


def _is_numbers(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_numbers(part) for part in value.values())
    if isinstance(value, list):
        return all(isinstance(part, float) for part in value)
    return isinstance(value, float)
