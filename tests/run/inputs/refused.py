"""A refusal beside the one that tf.estimator 2.15 was recorded with."""

from __future__ import annotations

import builtins
import re
from typing import Any

import tensorflow as tf
from tests.parity.row_scenes import Make, outcome

from lightwell.compat.v1 import estimator

_STAGES = ["made", "called", "run"]
_WHAT_TO_DO = re.compile("Pass |Name |Cut |Give |Take |Make |Leave |Convert |use None|with .to_frame")


def check_refusal(make: Make, words: str, recorded: Any) -> None:
    """The same words, an exception that catches as the original's did, at the same time or sooner; and what to do."""
    assert words in recorded["text"]
    found = outcome(make, estimator.inputs)
    assert words in found["text"]
    assert _STAGES.index(found["refused"]) <= _STAGES.index(recorded["refused"])
    assert issubclass(_raised(make), getattr(builtins, recorded["type"]))
    assert found["text"].startswith(("numpy_input_fn: ", "pandas_input_fn: "))
    assert _WHAT_TO_DO.search(found["text"])


def _raised(make: Make) -> type[BaseException]:
    try:
        with tf.Graph().as_default():
            make(estimator.inputs)()
    except Exception as error:
        return type(error)
    raise AssertionError("it was not refused")
