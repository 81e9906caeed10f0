"""Getting values out of an Estimator: predictions, metrics, weights and hidden layers, all as NumPy arrays.

Nothing is kept on `self` and no method is overridden: state lives in `model_dir`.
"""

from __future__ import annotations

import sys
import tempfile
from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1


def my_input_fn(mode: str, batch_size: int) -> tf.data.Dataset:
    features = {"x": tf.random.normal([128, 4])}
    labels = tf.random.normal([128, 1])
    dataset = tf.data.Dataset.from_tensor_slices((features, labels))
    if mode == lw.ModeKeys.TRAIN:
        return dataset.shuffle(10).batch(batch_size).repeat()
    return dataset.batch(batch_size)


def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> lw.EstimatorSpec:
    dense = lw.layers.dense(features["x"], params["units"], activation=tf.nn.relu)
    output = lw.layers.dense(dense, 1)
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, predictions={"output": output, "dense_output": dense})
    loss = v1.losses.mean_squared_error(labels, output)
    train_op = v1.train.AdamOptimizer(0.01).minimize(loss, global_step=v1.train.get_global_step())
    mse = v1.metrics.mean_squared_error(labels, output)
    return lw.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={"mse": mse})


def main(model_dir: str, steps: int = 200) -> None:
    est = lw.Estimator(model_fn, model_dir, params={"units": 10})
    est.train(lambda: my_input_fn(lw.ModeKeys.TRAIN, 32), steps=steps)

    result = est.evaluate(lambda: my_input_fn(lw.ModeKeys.EVAL, 32))
    print("evaluate:  ", {name: round(float(value), 3) for name, value in result.items()})

    row = next(est.predict(lambda: my_input_fn(lw.ModeKeys.PREDICT, 32)))
    print("declared:  ", row["dense_output"].shape, "from predictions={'dense_output': dense}")

    row = next(est.predict(lambda: my_input_fn(lw.ModeKeys.PREDICT, 32), taps=["layers/dense_1/input"]))
    print("tapped:    ", row["layers/dense_1/input"].shape, "without declaring anything")

    print("weights:   ", est.layers["dense"].kernel.shape, "is an", type(est.layers["dense"].kernel).__name__)
    print("all names: ", list(est.weights))
    activations = est.layers["dense"].output(lambda: my_input_fn(lw.ModeKeys.PREDICT, 32))
    print("a layer over all the data:", np.shape(activations))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
