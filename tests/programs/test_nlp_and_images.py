"""Text and image models of 2017 to 2022 run unchanged under `lightwell run`, and print what they printed before."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.programs.batch import Batch
from tests.programs.nlp_and_images import CASES, DATA, IMAGES, NLP, Program
from tests.programs.revived import words_of
from tests.programs.test_revived import assert_same, printed_by

VERSIONS = ("1.15.5", "2.15.1")
RECORDED = {
    version: json.loads((DATA / f"oracle-{version}" / "nlp_and_images.json").read_text()) for version in VERSIONS
}
QUICK = [case for case in CASES if not case.slow]
SLOW = [case for case in CASES if case.slow]


def _run_all(place: Path, cases: Iterable[Program]) -> dict[str, Any]:
    """What each program did. A process runs those of one TensorFlow, in a folder that holds all programs."""
    folder, found = place / "programs", {}
    for style in (NLP, IMAGES):
        shutil.copytree(DATA / style, folder, dirs_exist_ok=True)
    for version in VERSIONS:
        commands = {
            case.name: ["lightwell", "run", *case.options, *words_of(case, str(folder / "runs" / case.name))]
            for case in cases
            if case.original == version
        }
        if commands:
            found.update(Batch(folder, commands, version).outcomes())
    return found


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return _run_all(tmp_path_factory.mktemp("nlp_and_images"), QUICK)


@pytest.fixture(scope="module")
def slow_outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return _run_all(tmp_path_factory.mktemp("nlp_and_images_slow"), SLOW)


def test_there_are_many_and_all_are_listed_and_recorded() -> None:
    files = {path.name.partition(".")[0] for style in (NLP, IMAGES) for path in (DATA / style).iterdir()}
    assert files - {"__pycache__"} == {case.name for case in CASES}
    for style in (NLP, IMAGES):
        assert len([case for case in CASES if case.style == style]) >= 25
    for version in VERSIONS:
        assert RECORDED[version]["tensorflow"] == version
        assert list(RECORDED[version]["programs"]) == [case.name for case in CASES if case.original == version]


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_a_program_prints_what_its_tensorflow_printed(outcomes: dict[str, Any], case: Program) -> None:
    _check(outcomes[case.name], case)


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW, ids=lambda case: case.name)
def test_each_program_does_so(slow_outcomes: dict[str, Any], case: Program) -> None:
    _check(slow_outcomes[case.name], case)


def _check(outcome: dict[str, Any], case: Program) -> None:
    recorded = RECORDED[case.original]["programs"][case.name]
    assert_same(printed_by(outcome), recorded, case.name, case.close)
