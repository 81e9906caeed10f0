"""Local `train_and_evaluate` calls what tf.estimator 2.15 called, in its order, to its result; whole runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.parity import recordings
from tests.parity.workflow_scenes import SCENES
from tests.parity.workflow_specs import CASES, outcome

import lightwell as lw

RECORDED = recordings.load_json("workflow")
# A checkpoint of a step that was evaluated is skipped; the original blames its throttle, also where there is none.
OTHER_WORDS = "log Skip the current checkpoint eval due to throttle secs (0 secs)"


def test_everything_is_recorded() -> None:
    assert list(SCENES) == list(RECORDED["scenes"])
    assert list(CASES) == list(RECORDED["specs"])


@pytest.mark.parametrize("name", SCENES)
def test_calls_outcome_and_result(name: str, tmp_path: Path) -> None:
    recorded = RECORDED["scenes"][name]
    ours = SCENES[name](lw, object, tmp_path / "model")
    calls = [" ".join(map(str, call)) for call in ours["calls"]]
    assert calls == [call for call in recorded["calls"] if call != OTHER_WORDS]
    assert ours["outcome"] == recorded["outcome"]
    assert recordings.same(ours.get("result"), recorded.get("result"))


@pytest.mark.parametrize("name", CASES)
def test_specs(name: str) -> None:
    assert outcome(CASES[name], lw, object) == RECORDED["specs"][name]
