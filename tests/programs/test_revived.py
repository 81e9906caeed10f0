"""Old programs of all kinds run unchanged under `lightwell run`, and print what they printed with TensorFlow 1.15.5."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.compat.tf1.mnist_files import write_files
from tests.programs.batch import Batch
from tests.programs.revived import CASES, FOLDER, Case, words_of

QUICK = [case for case in CASES if not case.slow]
SLOW = [case for case in CASES if case.slow]
RECORDED = json.loads((FOLDER.parent / "oracle-1.15.5" / "revived.json").read_text())


def _run_all(place: Path, cases: Iterable[Case]) -> dict[str, Any]:
    """What each program did. One process runs all, in a folder that holds them."""
    folder = place / "programs"
    shutil.copytree(FOLDER, folder)
    (folder / "mnist").mkdir()
    write_files(folder / "mnist")
    commands = {
        case.name: ["lightwell", "run", *case.options, *words_of(case, str(folder / "runs" / case.name))]
        for case in cases
    }
    return Batch(folder, commands).outcomes()


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return _run_all(tmp_path_factory.mktemp("revived"), QUICK)


@pytest.fixture(scope="module")
def slow_outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return _run_all(tmp_path_factory.mktemp("revived_slow"), SLOW)


def test_there_are_many_and_all_are_listed() -> None:
    files = {path.name.partition(".")[0] for path in FOLDER.iterdir() if path.name != "__pycache__"}
    assert files == {case.name for case in CASES}
    assert len(CASES) >= 30
    assert RECORDED["tensorflow"] == "1.15.5"
    assert list(RECORDED["programs"]) == [case.name for case in CASES if case.recorded]


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_a_program_runs_and_prints_what_it_did(outcomes: dict[str, Any], case: Case) -> None:
    _check(outcomes[case.name], case)


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW, ids=lambda case: case.name)
def test_a_larger_program_does_so_too(slow_outcomes: dict[str, Any], case: Case) -> None:
    _check(slow_outcomes[case.name], case)


def printed_by(outcome: Mapping[str, Any]) -> Any:
    """The JSON on the last line of a program that ended well."""
    assert outcome["code"] == 0, outcome["err"]
    blamed = [line for line in outcome["err"].splitlines() if "deprecated" in line and "/lightwell/" in line]
    assert not blamed, "TensorFlow tells the user of a call that is Lightwell's"
    return json.loads(outcome["out"].splitlines()[-1])


def _check(outcome: Mapping[str, Any], case: Case) -> None:
    printed = printed_by(outcome)
    if case.recorded:
        assert_same(printed, RECORDED["programs"][case.name], case.name, case.close)
    else:
        assert printed == EXPECTED[case.name]


# What programs print that TensorFlow 1.15.5 cannot run.
EXPECTED: dict[str, Any] = {
    "mnist_session": {"accuracy": 1.0, "epochs": 29, "validation": 2, "test": [5, 784]},
}


def assert_same(ours: Any, recorded: Any, where: str, close: float) -> None:
    assert type(ours) is type(recorded), where
    if isinstance(recorded, dict):
        assert sorted(ours) == sorted(recorded), where
        for key, value in recorded.items():
            assert_same(ours[key], value, f"{where}/{key}", close)
    elif isinstance(recorded, list):
        assert len(ours) == len(recorded), where
        for number, value in enumerate(recorded):
            assert_same(ours[number], value, f"{where}[{number}]", close)
    elif isinstance(recorded, float):
        assert ours == pytest.approx(recorded, rel=close, abs=1e-5), where
    else:
        assert ours == recorded, where
