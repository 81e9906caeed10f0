"""The heads of tf.contrib.estimator average losses over the batch, and are those of canned.head otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell import tf1

X = np.arange(6, dtype=np.float32).reshape(6, 1)
LABELS: dict[str, Any] = {
    "binary_classification_head": np.array([[0], [1]] * 3),
    "multi_class_head": np.array([[0], [1], [2]] * 2),
    "multi_label_head": np.array([[0, 1, 1], [1, 0, 0]] * 3),
    "regression_head": X,
    "poisson_regression_head": X,
    "logistic_regression_head": X / 6,
}


@pytest.mark.parametrize("name", LABELS)
def test_trains_and_evaluates(name: str, tmp_path: Path) -> None:
    contrib = tf1.contrib.estimator
    made = getattr(contrib, name)
    head = made(3) if name.startswith("multi") else made()

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        logits = tf1.layers.dense(features["x"], head.logits_dimension, kernel_initializer=tf1.zeros_initializer())
        return head.create_estimator_spec(
            features, mode, logits, labels=labels, optimizer=tf1.train.GradientDescentOptimizer(0.0)
        )

    est = tf1.estimator.Estimator(model_fn, str(tmp_path))
    est.train(lambda: tf.data.Dataset.from_tensors(({"x": X}, LABELS[name])), steps=1)
    result = est.evaluate(lambda: tf.data.Dataset.from_tensors(({"x": X}, LABELS[name])))
    np.testing.assert_allclose(result["loss"], result["average_loss"], rtol=1e-6)
    assert result["global_step"] == 1


def test_several_heads_are_one() -> None:
    contrib = tf1.contrib.estimator
    both = contrib.multi_head([contrib.regression_head(name="a"), contrib.multi_class_head(3, name="b")])
    assert (both.name, both.logits_dimension) == ("a_b", 4)
