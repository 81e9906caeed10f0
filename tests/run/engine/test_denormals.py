"""Numbers too small for full precision come out alike, whichever threads run the steps and however they are issued."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
X = np.ones((4, 2), np.float32)
STAYS = "lightwell.run.engine.threads.Threads.stays"  # the choice that is otherwise left to the clock
TINY = np.array([1e-39, 3e-42, 1e-37, 1.0], np.float32)


def batches() -> Any:
    return tf.data.Dataset.from_tensors(({"x": X}, X[:, :1])).repeat()


def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    """Weights that decay to denormal numbers and below, and an optimizer whose state does."""
    weight = v1.get_variable("weight", [2, 1], initializer=v1.constant_initializer(0.5))
    decaying = v1.get_variable("decaying", [4], initializer=v1.constant_initializer(TINY), trainable=False)
    output = features["x"] @ weight
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, predictions={"tiny": decaying * 0.9 + 0 * output})
    loss = tf.reduce_mean(tf.square(output - labels))
    trained = v1.train.AdamOptimizer(0.001, beta1=0.5).minimize(loss, v1.train.get_global_step())
    return lw.EstimatorSpec(mode, loss=loss, train_op=tf.group(trained, decaying.assign(decaying * 0.9)))


def weights(folder: Path, **settings: Any) -> dict[str, bytes]:
    config = lw.RunConfig(save_summary_steps=None, log_step_count_steps=None, **settings)
    est = lw.Estimator(model_fn, str(folder), config)
    est.train(batches, steps=160)
    return {name: np.asarray(est.get_variable_value(name)).tobytes() for name in est.get_variable_names()}


@pytest.mark.parametrize("fuse_steps", ["auto", 7, False])
def test_whichever_threads_run_the_steps(fuse_steps: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for stays in (False, True):
        monkeypatch.setattr(STAYS, property(lambda self, stays=stays: stays and self.may_start))
        found.append(weights(tmp_path / str(stays), fuse_steps=fuse_steps))
    assert found[0] == found[1]
    assert np.frombuffer(found[0]["beta1_power"], np.float32) == 0  # 0.5 ** 160 is below all floats; as 2.15.1
    assert np.frombuffer(found[0]["decaying"], np.float32)[:3].tolist() == [0, 0, 0]


def test_predictions_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = lw.RunConfig(save_summary_steps=None)
    est = lw.Estimator(model_fn, str(tmp_path), config)
    est.train(batches, steps=1)
    rows = []
    for stays in (False, True, True):
        monkeypatch.setattr(STAYS, property(lambda self, stays=stays: stays and self.may_start))
        some = est.predict(lambda: batches().take(3), yield_single_examples=False)
        rows.append(np.stack([row["tiny"] for row in some]).tobytes())
    assert rows[0] == rows[1] == rows[2]


def test_the_mode_of_the_calling_thread_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(STAYS, property(lambda self: self.may_start))
    weights(tmp_path)
    assert (TINY * np.float32(0.5) > 0).all()


def test_steps_stay_in_the_pool_where_the_mode_cannot_be_switched(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lightwell.run.engine.session_pool.can_be_flushed", lambda: False)
        patch.setattr(STAYS, property(lambda self: self.may_start))
        unswitched = weights(tmp_path / "unswitched")
    assert unswitched == weights(tmp_path / "usual")
