"""Programs over `tf.contrib`, played here and by TensorFlow 1.15.5: the same numbers, variables and collections."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compat.contrib.playing import play

from lightwell import tf1

DATA = Path(__file__).parents[2] / "data/oracle-1.15.5"
GROUPS = ("layer", "optimize_loss", "loss", "slim", "column", "image")
RECORDED = {group: json.loads((DATA / f"contrib_{group}.json").read_text())["programs"] for group in GROUPS}
# Programs in which results come from operations that nobody looks up by name.
LOOSE_OPS = ("atch_norm", "dropped_out", "encoders", "embeddings", "regularizers", "flattened")


@pytest.mark.filterwarnings("ignore:.*layer.apply.*:UserWarning")  # tf_slim calls it
@pytest.mark.parametrize(("group", "name"), [(group, name) for group in GROUPS for name in RECORDED[group]])
def test_program(group: str, name: str) -> None:
    program = importlib.import_module(f"tests.compat.contrib.{group}_programs").PROGRAMS[name]
    expected, told = RECORDED[group][name], play(tf1, program)
    for key in ("variables", "updates", "own", "summaries"):
        assert told[key] == expected[key], key
    for key, shape in expected["shapes"].items():
        assert knows_as_much(told["shapes"][key], shape), key
    if group == "layer" and not any(part in name for part in LOOSE_OPS):
        assert told["ops"] == expected["ops"]
    for key in ("trainable", "model"):
        assert sorted(told[key]) == sorted(expected[key]), key
    for key in ("values", "trained", "after", "penalties"):
        if key in expected:
            assert_close(told[key], expected[key], key)


def knows_as_much(told: Any, expected: Any) -> bool:
    """Whether a shape is known here at least as far as it was."""
    if expected is None or told is None:
        return told == expected
    return len(told) == len(expected) and all(known in (size, None) for size, known in zip(told, expected, strict=True))


def assert_close(told: Any, expected: Any, where: str) -> None:
    if isinstance(expected, dict):
        assert set(told) == set(expected), where
        for key, value in expected.items():
            assert_close(told[key], value, f"{where}/{key}")
    elif isinstance(expected, list) and any(isinstance(one, (list, str)) or one is None for one in expected):
        assert len(told) == len(expected), where
        for number, (one, other) in enumerate(zip(told, expected, strict=True)):
            assert_close(one, other, f"{where}[{number}]")
    elif isinstance(expected, str) or expected is None:
        assert told == expected, where
    else:
        np.testing.assert_allclose(told, expected, rtol=2e-5, atol=2e-6, err_msg=where)
