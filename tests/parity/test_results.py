"""The verbs give back and log what those of tf.estimator 2.15 did, down to Python types; warm starts reach the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.parity import recordings
from tests.parity.result_scenes import SCENES

import lightwell as lw

RECORDED = recordings.load_json("results")["scenes"]
_NO_STEPS = (
    "WARNING train: Training with estimator made no steps. Perhaps input is empty or misspecified: input_fn gave no "
    "batch. Check that its files or arrays have rows, and that batch(..., drop_remainder=True) leaves a batch."
)
_NOTHING_TO_DO = (
    "WARNING Skipping training since max_steps has already saved. train: the newest checkpoint in <model_dir> is of "
    "step 3, and max_steps=3; to train on, raise it, or say how many more with steps=."
)
DIFFERENT: dict[str, Any] = {
    # What the original leaves unsaid, or says where no script shows it.
    "log: train without data": [*(without := RECORDED["log: train without data"])[:-1], _NO_STEPS, without[-1]],
    "log: train with nothing to do": [_NOTHING_TO_DO],
    # A warm start that finds nothing to take is refused; what does not fit is left out, with a warning that lists it.
    "warm start: variables 'kernel'": "ValueError",
    "warm start: variables 'zzz'": "ValueError",
    "warm start: nothing there": "ValueError",
    "warm start: a variable that the checkpoint lacks": ["dense/kernel", "my/dense/kernel", "dense/kernel_2", "table"],
    "warm start: another shape": ["dense/kernel", "my/dense/kernel", "dense/kernel_2"],
}


def as_recorded(line: Any) -> Any:
    """Running without a checkpoint is a warning here, and says more: the results come from random weights."""
    if not isinstance(line, str):
        return line
    return re.sub(r"^WARNING (Could not find trained model .*? to (evaluate|predict)\.) .*", r"INFO \1", line)


def test_every_scene_is_recorded() -> None:
    assert list(SCENES) == list(RECORDED)


@pytest.mark.parametrize("name", SCENES)
def test_result(name: str, tmp_path: Path) -> None:
    result = json.loads(json.dumps(SCENES[name](lw, tmp_path)))
    if name.startswith("log: "):
        result = [as_recorded(line) for line in result]
    assert result == DIFFERENT.get(name, RECORDED[name])
