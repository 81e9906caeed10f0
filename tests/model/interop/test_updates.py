"""Moving statistics are part of the train step, and of nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.interop.builds import X, batches, built, classifier, estimator, keras, v1

import lightwell as lw

L = keras.layers
MEAN, VARIANCE = "batch_normalization/moving_mean", "batch_normalization/moving_variance"


def normalized(x: Any) -> Any:
    return L.Dense(2)(L.BatchNormalization(momentum=0.9)(x))


def statistics(est: lw.Estimator) -> tuple[np.ndarray, np.ndarray]:
    return est.get_variable_value(MEAN), est.get_variable_value(VARIANCE)


def test_they_follow_the_batches_of_training_alone(tmp_path: Path) -> None:
    est = estimator(tmp_path, classifier(normalized))
    est.train(batches(16), steps=3)
    mean, variance = np.zeros(6), np.ones(6)
    for batch in (X[:16], X[16:32], X[32:48]):
        mean = 0.9 * mean + 0.1 * batch.mean(axis=0)
        variance = 0.9 * variance + 0.1 * batch.var(axis=0)
    np.testing.assert_allclose(statistics(est), (mean, variance), rtol=1e-5)

    result = est.evaluate(batches(16, repeat=1))
    row = next(iter(est.predict(batches(16, repeat=1))))["logits"]
    np.testing.assert_allclose(statistics(est), (mean, variance), rtol=1e-5)
    gamma, beta = (est.get_variable_value(f"batch_normalization/{name}") for name in ("gamma", "beta"))
    kernel, bias = (est.get_variable_value(f"dense/{name}") for name in ("kernel", "bias"))
    by_hand = ((X[0] - mean) / np.sqrt(variance + 1e-3) * gamma + beta) @ kernel + bias
    np.testing.assert_allclose(row, by_hand, rtol=1e-4, atol=1e-5)
    assert est.evaluate(batches(16, repeat=1)) == result


def test_old_code_that_collects_them_runs_them_once(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        out = normalized(features["x"])
        loss = tf.reduce_mean(out**2)
        updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        assert len(updates) == (2 if mode == lw.ModeKeys.TRAIN else 0)
        with tf.control_dependencies(updates):
            train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, out, loss, train_op)

    est = estimator(tmp_path, model_fn)
    est.train(batches(16), steps=1)
    np.testing.assert_allclose(est.get_variable_value(MEAN), 0.1 * X[:16].mean(axis=0), rtol=1e-5)
    est.evaluate(batches(16, repeat=1))


@pytest.mark.parametrize("mode", [lw.ModeKeys.EVAL, lw.ModeKeys.PREDICT])
def test_other_modes_have_none_even_when_told_to_train(mode: str) -> None:
    build = built(lambda x: L.BatchNormalization()(x, training=True), mode=mode)
    assert build.trace.updates == []
    assert build.graph.get_collection(v1.GraphKeys.UPDATE_OPS) == []
    np.testing.assert_allclose(build.runs()[0].mean(axis=0), np.zeros(6), atol=1e-5)


def test_what_the_user_says_about_training_goes_before_the_mode() -> None:
    assert built(lambda x: L.BatchNormalization()(x, training=False)).trace.updates == []
    model = [L.Dense(3), L.BatchNormalization(), L.Dropout(0.9)]
    build = built(lambda x: keras.Sequential(model)(x, training=False))
    assert build.trace.updates == []
    first, second = build.runs(2)
    np.testing.assert_array_equal(first, second)


def test_a_frozen_layer_keeps_its_statistics() -> None:
    def network(x: Any) -> Any:
        layer = L.BatchNormalization()
        layer.trainable = False
        return layer(x)

    build = built(network)
    assert build.trace.updates == []
    np.testing.assert_allclose(build.runs()[0], X / np.sqrt(1 + 1e-3), rtol=1e-5)
