"""Hooks that run ops of the model by themselves see what they would see beside single steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.faces import FUSED, SINGLE

import lightwell as lw

v1 = tf.compat.v1
X = np.arange(1, 13, dtype=np.float32).reshape(-1, 1)


def batches() -> Any:
    return tf.data.Dataset.from_tensor_slices((X, np.zeros_like(X))).batch(2).repeat()


class AtTheEnd(v1.train.SessionRunHook):  # type: ignore[misc]
    """Runs a tensor of the model once more when training is over."""

    def end(self, session: Any) -> None:
        self.seen = session.run("drawn:0")


class Timing(v1.train.SessionRunHook):  # type: ignore[misc]
    """Leaves the session alone."""

    def end(self, session: Any) -> None:
        self.seen = True


def drawing(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    drawn = tf.identity(v1.random_uniform([], seed=3), name="drawn")
    loss = tf.reduce_mean(features) * 0 + drawn
    return lw.EstimatorSpec(mode, loss=loss, train_op=v1.assign_add(v1.train.get_global_step(), 1).op)


def test_a_hook_that_draws_by_itself_goes_on_where_the_steps_stopped(tmp_path: Path) -> None:
    seen = []
    for face in (FUSED, SINGLE):
        hook = AtTheEnd()
        config = face.RunConfig(tf_random_seed=1, save_summary_steps=None)
        face.Estimator(drawing, str(tmp_path / str(len(seen))), config).train(batches, steps=4, hooks=[hook])
        seen.append(float(hook.seen))
    assert seen[0] == seen[1] == pytest.approx(0.6031507, rel=1e-6)  # the fifth draw, as in 2.15.1


def test_steps_beside_a_hook_that_leaves_the_session_alone_are_fused(tmp_path: Path) -> None:
    calls = []
    real = v1.Session._call_tf_sessionrun

    def counted(self: Any, *args: Any) -> Any:
        calls.append(1)
        return real(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(v1.Session, "_call_tf_sessionrun", counted)
        config = lw.RunConfig(tf_random_seed=1, save_summary_steps=None, log_step_count_steps=None)
        lw.Estimator(drawing, str(tmp_path), config).train(batches, steps=400, hooks=[Timing()])
    assert len(calls) < 100
