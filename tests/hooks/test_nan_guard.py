"""A loss that is no number stops training, with words."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf
from tests.conftest import LogLines
from tests.hooks.steps import Context

from lightwell.hooks.base import NEVER
from lightwell.hooks.nan_guard import NanGuard, NanLossError


def test_it_looks_at_no_step_until_there_is_a_nan() -> None:
    hook = NanGuard(lambda session: "")
    assert hook.next_look(3) == NEVER
    assert hook.sees_nan


@pytest.mark.parametrize("loss", [1.0, math.inf, np.float16(2), np.float32(-1)])
def test_a_number_passes(loss: float) -> None:
    NanGuard(lambda session: pytest.fail("nothing to explain")).after_run(Context(1, loss), None)


def test_a_nan_is_logged_explained_and_raised(log: LogLines) -> None:
    hook = NanGuard(lambda session: f"Looked at {session}.")
    text = r"^NaN loss during training, at step 7\. Looked at session\.$"
    with pytest.raises(tf.compat.v1.train.NanLossDuringTrainingError, match=text) as caught:
        hook.after_run(Context(7, np.float32("nan"), "session"), None)
    assert isinstance(caught.value, NanLossError | RuntimeError)
    assert log.lines == ["ERROR Model diverged with loss = NaN."]
