"""A model that is looked at many times is built once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf
from tests import tiny
from tests.edits import models

import lightwell as lw

v1 = tf.compat.v1


def test_checkpoints_share_one_program(tmp_path: Path) -> None:
    calls = []

    def counting(features: Any, labels: Any, mode: str, params: Any) -> Any:
        calls.append(mode)
        return tiny.linear(features, labels, mode, params)

    def input_fn() -> Any:
        calls.append("input")
        return tiny.once()

    est = tiny.estimator(tmp_path, counting, params={}, save_checkpoints_steps=1)
    est.train(tiny.data, steps=3)
    calls.clear()
    found = est.over_checkpoints(input_fn, weights=["w"])
    assert sorted(calls) == ["eval", "input"]
    assert found.steps.tolist() == [0, 1, 2, 3]
    alone = [est.evaluate(tiny.once, checkpoint_path=one)["mae"] for one in found.checkpoints]
    assert found["mae"].tolist() == [float(one) for one in alone]
    assert found["mae"][0] > found["mae"][-1]


def test_state_is_fresh_in_each_evaluation(tmp_path: Path) -> None:
    """Random ops, local variables and metrics start over: all units give the same, as none has an effect."""

    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        idle = lw.layers.dense(features["x"], 2, name="idle")
        logits = lw.layers.dense(features["x"], 4) + tf.random.normal([4], seed=1) + 0.0 * tf.reduce_sum(idle)
        spec = models.finished(logits, labels, mode)
        seen = v1.get_variable("seen", [], trainable=False, collections=[v1.GraphKeys.LOCAL_VARIABLES])
        count = v1.assign_add(seen, 1.0)
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, "seen": (seen.read_value(), count)})

    est = models.estimator(model_fn, tmp_path).train(models.data, steps=1)
    plain = est.evaluate(models.once)
    found = est.ablate(models.once, "layers/idle", "unit")
    for name, values in found.metrics.items():
        assert values.tolist() == [plain[name]] * 2 == [found.baseline[name]] * 2, name
