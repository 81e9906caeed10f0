"""Programs in three styles run unchanged under `lightwell run`, and print what they printed with the old TensorFlow."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.programs.batch import Batch
from tests.programs.styles import DATA, NEW, OLD, PROGRAMS, STYLES, Program, waiting
from tests.programs.test_revived import assert_same, printed_by

_RECORDS = {release: DATA / f"oracle-{release}" / "styles.json" for release in (OLD, NEW)}
RECORDED = {release: json.loads(file.read_text())["programs"] for release, file in _RECORDS.items()}
RUNNING = [program for program in PROGRAMS if program.key not in waiting()]
# One of each style that `make test` runs too.
FIRST = ("google/iris_custom", "recommenders/deepfm_libsvm", "notebooks/gan_mnist_notebook")


def run_all(place: Path, chosen: Iterable[Program]) -> dict[str, Any]:
    """What each program did, in a folder of its own; one process for each TensorFlow that they were written for."""
    running = []
    for release in (OLD, NEW):
        # Eager execution stays off, once a program has turned it off.
        mine = sorted((one for one in chosen if one.tensorflow == release), key=lambda one: one.graph_only)
        folders = {one.key: place / one.key for one in mine}
        for folder in folders.values():
            folder.mkdir(parents=True)
        commands = {one.key: ["lightwell", "run", str(one.file)] for one in mine}
        if commands:
            running.append(Batch(place, commands, f"for_{release}", folders))
    return {key: outcome for batch in running for key, outcome in batch.outcomes().items()}


@pytest.fixture(scope="module")
def first_outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run_all(tmp_path_factory.mktemp("first"), [one for one in RUNNING if one.key in FIRST])


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run_all(tmp_path_factory.mktemp("styles"), RUNNING)


def test_there_are_many_of_each_style_and_all_are_recorded() -> None:
    count = Counter(program.style for program in PROGRAMS)
    assert set(count) == set(STYLES)
    assert min(count.values()) >= 25
    for release, recorded in RECORDED.items():
        assert list(recorded) == [one.key for one in PROGRAMS if one.tensorflow == release]
    assert set(waiting()) <= {one.key for one in PROGRAMS}


def test_one_of_each_style(first_outcomes: dict[str, Any]) -> None:
    assert set(first_outcomes) == set(FIRST)
    for program in RUNNING:
        if program.key in FIRST:
            _check(first_outcomes[program.key], program)


@pytest.mark.slow
@pytest.mark.parametrize("program", RUNNING, ids=lambda program: program.key)
def test_a_program_runs_and_prints_what_it_did(outcomes: dict[str, Any], program: Program) -> None:
    _check(outcomes[program.key], program)


def _check(outcome: dict[str, Any], program: Program) -> None:
    assert_same(printed_by(outcome), RECORDED[program.tensorflow][program.key], program.key, program.close)
