"""Programs that a TensorFlow of their time could run print here what they printed there."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from tests.programs.cases import CASES, FOLDER, WAYS, Case
from tests.programs.conftest import Outcomes

# Other kernels round otherwise, and Adam carries it on: the loss of the convolutional network differs by 4e-4 after ten
# steps with dropout.
CLOSE = 2e-3
# What is meant to differ: (program, key), and why.
DIFFERENT = {
    ("dense_output", "eager"): "the namespace lightwell.tf1 leaves eager execution on",
    ("disable_v2_behavior", "eager"): "likewise",
    ("columns", "refused"): "the same sentence, with a hint behind it",
    ("keras_conv", "statistics_moved"): "Keras 2 forgot to put its updates into UPDATE_OPS",
    ("keras_conv", "accuracy"): "for the same reason",
}
RECORDED = [case for case in CASES if case.runs_on]


@functools.cache
def recordings(version: str) -> dict[str, Any]:
    content = json.loads((FOLDER.parent / f"oracle-{version}" / "programs.json").read_text())
    assert content["tensorflow"] == version
    programs: dict[str, Any] = content["programs"]
    return programs


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case.name)
@pytest.mark.parametrize("way", WAYS)
def test_it_prints_what_it_printed(outcomes: Outcomes, case: Case, way: str) -> None:
    printed = dict(outcomes.printed(case.name, way))
    recorded = dict(recordings(case.runs_on)[case.name])
    for key in [key for name, key in DIFFERENT if name == case.name]:
        del printed[key], recorded[key]
    _assert_same(printed, recorded, case.name)


def _assert_same(ours: Any, recorded: Any, where: str) -> None:
    assert type(ours) is type(recorded), where
    if isinstance(recorded, dict):
        assert list(ours) == list(recorded), where
        for key, value in recorded.items():
            _assert_same(ours[key], value, f"{where}/{key}")
    elif isinstance(recorded, list):
        assert len(ours) == len(recorded), where
        for number, value in enumerate(recorded):
            _assert_same(ours[number], value, f"{where}[{number}]")
    elif isinstance(recorded, float):
        assert ours == pytest.approx(recorded, rel=CLOSE, abs=1e-5), where
    else:
        assert ours == recorded, where
