"""A loss that is no number stops training, with words; see tests/engine/test_nan_report.py for what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw

v1 = tf.compat.v1


def model_of(value: float, dtype: Any = tf.float32) -> Any:
    """A model whose loss is `value` from the third step on."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        step = v1.train.get_global_step()
        loss = tf.where(step.read_value() < 2, tf.constant(1.0, dtype), tf.constant(value, dtype))
        with tf.control_dependencies([loss]):
            return lw.EstimatorSpec(mode, loss=loss, train_op=v1.assign_add(step, 1))

    return model_fn


@pytest.mark.parametrize(("loss", "dtype"), [(float("inf"), tf.float32), (2.0, tf.float16), (-1.0, tf.float64)])
@pytest.mark.parametrize("fuse_steps", [False, "auto"])
def test_a_number_passes(tmp_path: Path, loss: float, dtype: Any, fuse_steps: Any) -> None:
    made = tiny.estimator(tmp_path, model_of(loss, dtype), fuse_steps=fuse_steps)
    made.train(tiny.data, steps=5)
    assert made.get_variable_value("global_step") == 5


@pytest.mark.parametrize("fuse_steps", [False, "auto"])
def test_a_nan_is_logged_explained_and_raised(tmp_path: Path, log: LogLines, fuse_steps: Any) -> None:
    made = tiny.estimator(tmp_path, model_of(float("nan")), fuse_steps=fuse_steps)
    with pytest.raises(v1.train.NanLossDuringTrainingError, match=r"^NaN loss during training, at step 3\. \S") as e:
        made.train(tiny.data, steps=9)
    assert isinstance(e.value, RuntimeError)
    assert isinstance(e.value, lw.NanLossDuringTrainingError)
    assert "ERROR Model diverged with loss = NaN." in log.lines
