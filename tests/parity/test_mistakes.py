"""A wrong use raises the type of exception that it raised in tf.estimator 2.15, so that programs still catch it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.parity import recordings
from tests.parity.mistakes import MISTAKES, name_of, raised_by

import lightwell as lw
from lightwell.errors import LightwellError

RECORDED = recordings.load_json("mistakes")["raised"]
DIFFERENT = {
    # There the model fails on the None; here the input_fn is named.
    "train: input_fn gives None": "ValueError",
    # There an index error out of the depths; here the prediction is named.
    "predict: a scalar per batch": "ValueError",
    # A CheckpointMismatch says which variables; it is a ValueError.
    "train: the checkpoint lacks a variable": "ValueError",
    "evaluate: the checkpoint lacks a variable": "ValueError",
    "predict: the checkpoint lacks a variable": "ValueError",
    # There any mode passes, and fails later.
    "spec: the mode is unknown": "ValueError",
}


def test_every_mistake_is_recorded() -> None:
    assert list(MISTAKES) == list(RECORDED)


@pytest.mark.parametrize("name", MISTAKES)
def test_raises_the_same_type(name: str, tmp_path: Path) -> None:
    error = raised_by(MISTAKES[name], lw, tmp_path / "model_dir")
    assert name_of(error) == DIFFERENT.get(name, RECORDED[name])
    # Raised on purpose, not out of the depths; Python itself answers for read-only attributes.
    assert error is None or isinstance(error, LightwellError | AttributeError)
