"""A wide and deep model over feature columns: embeddings, a shared one, a crossing, a vocabulary file.

`estimator` is `tf.estimator` or `lightwell`. Trained by the oracle into `feature_columns_model_dir`, resumed by the
tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tests.model.feature_columns import cases
from tests.resume.models import Losses

v1 = tf.compat.v1
fc = tf.feature_column
ROWS, BATCH = 64, 16


def data() -> tuple[dict[str, Any], Any]:
    """Trips between cities; the label depends on both ends and the age."""
    random = np.random.RandomState(7)
    cities = np.array([*cases.CITIES, "paris", "atlantis"])
    start, end = random.randint(0, 5, ROWS), random.randint(0, 5, ROWS)
    age = random.uniform(10, 70, ROWS).astype(np.float32)
    labels = ((start + end) % 3 + (age > 40)).astype(np.float32)
    features = {"from": cities[start], "to": cities[end], "age": age}
    return {key: column.reshape(-1, 1) for key, column in features.items()}, labels.reshape(-1, 1)


def input_fn(repeat: bool) -> Any:
    dataset = tf.data.Dataset.from_tensor_slices(data()).batch(BATCH)
    return dataset.repeat() if repeat else dataset


def build(estimator: Any, features: Any, labels: Any, mode: str) -> Any:
    start = fc.categorical_column_with_vocabulary_list("from", cases.CITIES, num_oov_buckets=1)
    end = fc.categorical_column_with_vocabulary_file("to", cases.CITIES_FILE, num_oov_buckets=1)
    age = fc.numeric_column("age", normalizer_fn=lambda x: (x - 40.0) / 20.0)
    crossing = fc.crossed_column(["from", "to"], 13)
    deep = [
        age,
        fc.embedding_column(start, 3),
        fc.indicator_column(end),
        fc.embedding_column(crossing, 2, combiner="sqrtn"),
        *v1.feature_column.shared_embedding_columns(
            [fc.categorical_column_with_hash_bucket(key, 6) for key in ("from", "to")], 2
        ),
    ]
    net = v1.feature_column.input_layer(features, deep)
    wide = v1.feature_column.linear_model(features, [crossing, fc.bucketized_column(age, [-0.5, 0.5])])
    kernel = v1.get_variable("head/kernel", [net.shape[-1], 1], initializer=v1.glorot_uniform_initializer(seed=3))
    output = tf.matmul(net, kernel) + wide
    if mode == "infer":
        return estimator.EstimatorSpec(mode, predictions={"output": output, "net": net})
    loss = v1.losses.mean_squared_error(labels, output)
    train_op = v1.train.AdamOptimizer(0.05).minimize(loss, global_step=v1.train.get_global_step())
    error = {"mae": v1.metrics.mean_absolute_error(labels, output)}
    return estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=error)


def make(estimator: Any, model_dir: str) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return build(estimator, features, labels, mode)

    return estimator.Estimator(model_fn, model_dir, estimator.RunConfig(tf_random_seed=11))


def train(estimator: Any, model_dir: str, steps: int) -> list[float]:
    """The losses of `steps` training steps."""
    losses = Losses()
    make(estimator, model_dir).train(lambda: input_fn(repeat=True), hooks=[losses], steps=steps)
    return losses.values


def resume(estimator: Any, model_dir: str) -> dict[str, Any]:
    """Evaluates and predicts from what is in `model_dir`, then trains on."""
    est = make(estimator, model_dir)
    evaluation = {key: float(value) for key, value in est.evaluate(lambda: input_fn(repeat=False)).items()}
    rows = list(est.predict(lambda: input_fn(repeat=False)))
    predictions = {key: np.stack([row[key] for row in rows]).tolist() for key in rows[0]}
    names = {name: list(np.shape(est.get_variable_value(name))) for name in est.get_variable_names()}
    return {
        "evaluation": evaluation,
        "predictions": predictions,
        "variables": names,
        "losses": train(estimator, model_dir, steps=10),
    }
