"""Evaluations and predictions with compiled batches give what they give without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.conftest import LogLines

import lightwell as lw

v1 = tf.compat.v1
X = np.random.RandomState(0).randn(3003, 5).astype(np.float32)
Y = X.sum(axis=1, keepdims=True)
COMPILED = "into one computation"


def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    hidden = lw.layers.dense(features["x"], 4, activation=tf.nn.relu, name="hidden")
    output = lw.layers.dense(hidden, 1, name="out")
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, {"output": output, "first": output[:, 0], "mean": tf.reduce_mean(output)})
    loss = tf.reduce_mean((output - labels) ** 2)
    train_op = v1.train.AdamOptimizer().minimize(loss, v1.train.get_global_step())
    error = tf.keras.metrics.MeanAbsoluteError(name="error")
    error.update_state(labels, output)
    return lw.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={"error": error})


def batches() -> Any:
    """The last one is shorter."""
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(5)


def estimator(model_dir: Path, jit_compile: Any) -> lw.Estimator:
    return lw.Estimator(model_fn, str(model_dir), lw.RunConfig(jit_compile=jit_compile, tf_random_seed=1))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    estimator(folder, False).train(batches, steps=3)
    return folder


def test_evaluations_agree(trained: Path, log: LogLines) -> None:
    plain = estimator(trained, False).evaluate(batches)
    compiled = estimator(trained, True)
    found = [compiled.evaluate(batches) for _ in range(2)]  # the second in the session of the first
    assert log.having(COMPILED)
    for one in found:
        assert list(one) == list(plain)
        np.testing.assert_allclose(list(one.values()), list(plain.values()), rtol=1e-6)


def test_predictions_agree(trained: Path, log: LogLines) -> None:
    plain = list(estimator(trained, False).predict(batches, yield_single_examples=False))
    compiled = estimator(trained, True)
    found = [list(compiled.predict(batches, yield_single_examples=False)) for _ in range(2)]
    assert log.having(COMPILED)
    for one in found:
        assert len(one) == len(plain) == 601
        for ours, others in zip(one, plain, strict=True):
            for key, value in others.items():
                assert ours[key].shape == value.shape
                np.testing.assert_allclose(ours[key], value, rtol=1e-6, atol=1e-6)
    rows = list(compiled.predict(batches, predict_keys=["output"]))
    np.testing.assert_allclose(rows[-1]["output"], plain[-1]["output"][-1], rtol=1e-6)
    assert len(rows) == len(X)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_an_update_that_does_not_wait_for_the_batch(jit_compile: bool, tmp_path: Path, log: LogLines) -> None:
    """It runs once more, in the step that finds no batch: tf.estimator 2.15.1 counts 35 rows of 28, too."""

    def counting(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        count = v1.get_variable("rows", [], initializer=v1.zeros_initializer(), collections=["local_variables"])
        size = tf.cast(tf.size(labels), tf.float32)  # batches have a fixed size: a constant
        metrics = {"rows": (count.read_value(), count.assign_add(size, name="counted"))}
        return lw.EstimatorSpec(mode, loss=tf.reduce_mean(features["x"]), eval_metric_ops=metrics)

    config = lw.RunConfig(jit_compile=jit_compile)
    data = tf.data.Dataset.from_tensor_slices
    found = lw.Estimator(counting, str(tmp_path), config).evaluate(
        lambda: data(({"x": X[:28]}, Y[:28])).batch(7, drop_remainder=True)
    )
    assert found["rows"] == 35
    lines = log.having("steps are not compiled")
    assert len(lines) == jit_compile
    assert all("counted (AssignAddVariableOp) does not wait for the batch" in line for line in lines)
