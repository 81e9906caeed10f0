"""A wrong use raises the type of exception that it raised in tf.estimator 2.15, so that programs still catch it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.parity import recordings
from tests.parity.mistakes import MISTAKES, NOTHING, raised_by

import lightwell as lw
from lightwell.errors import LightwellError

RECORDED = recordings.load_json("mistakes")["raised"]
DIFFERENT = {
    # There the model fails on the None; here the input_fn is named.
    "train: input_fn gives None": "ValueError",
    # There an index error out of the depths; here the prediction is named.
    "predict: a scalar per batch": "ValueError",
    # There an error out of the depths; here the missing field is named.
    "train: a spec for no mode, without train_op": "ValueError",
    "predict: a spec for no mode, without predictions": "ValueError",
    # There a weight of another shape goes unnoticed where no op of the model minds; here it is always refused.
    "train: a variable of another shape": "InvalidArgumentError",
    "evaluate: a variable of another shape": "InvalidArgumentError",
    "predict: a variable of another shape": "InvalidArgumentError",
}


def test_every_mistake_is_recorded() -> None:
    assert list(MISTAKES) == list(RECORDED)


@pytest.mark.parametrize("name", MISTAKES)
def test_raises_the_same_type(name: str, tmp_path: Path) -> None:
    error = raised_by(MISTAKES[name], lw, tmp_path / "model_dir")
    expected = DIFFERENT.get(name, RECORDED[name])
    caught_as = [NOTHING] if error is None else [kind.__name__ for kind in type(error).__mro__]
    assert expected in caught_as
    # Raised on purpose, not out of the depths; Python itself answers for read-only attributes.
    assert error is None or isinstance(error, LightwellError | AttributeError)
