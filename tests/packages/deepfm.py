"""Trains deepctr's DeepFM, which was written against tf.estimator's private head, and prints what it evaluates to."""

import json
import sys

import numpy as np

import lightwell

lightwell.install()
import tensorflow as tf  # noqa: E402
from deepctr.estimator import DeepFMEstimator  # noqa: E402


def data(rows, seed):
    rng = np.random.RandomState(seed)
    features = {f"category_{n}": rng.randint(0, 20, rows).astype(np.int64) for n in range(3)}
    features |= {f"number_{n}": rng.rand(rows, 1).astype(np.float32) for n in range(2)}
    odd, high = features["category_0"] % 2, features["number_0"][:, 0] > 0.5
    return features, (odd * high).astype(np.float32)[:, None]


def input_fn(rows, seed):
    return tf.data.Dataset.from_tensor_slices(data(rows, seed)).batch(64)


categories = [
    tf.feature_column.categorical_column_with_hash_bucket(f"category_{n}", 50, dtype=tf.int64) for n in range(3)
]
numbers = [tf.feature_column.numeric_column(f"number_{n}") for n in range(2)]
embedded = [tf.feature_column.embedding_column(category, 4) for category in categories]
estimator = DeepFMEstimator(categories + numbers, embedded + numbers, dnn_hidden_units=(32, 16), model_dir=sys.argv[1])
estimator.train(lambda: input_fn(2000, 0).repeat(), steps=300)
metrics = estimator.evaluate(lambda: input_fn(500, 1))
rows = list(estimator.predict(lambda: input_fn(5, 2)))
print(json.dumps({"AUC": float(metrics["AUC"]), "steps": int(metrics["global_step"]), "rows": len(rows)}))
