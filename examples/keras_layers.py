"""Keras 3 layers inside a model function, and their activations over a `tf.data` pipeline.

Batch normalisation keeps its statistics, dropout knows the mode, and nobody collects update ops by hand. The
activations come out with `predict(taps=...)`: `model_fn` does not mention them.
"""

from __future__ import annotations

import sys
import tempfile
from typing import Any

import digits
import keras
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1


def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    x = features["x"][..., tf.newaxis]
    conv = keras.layers.Conv2D(16, (3, 3), activation="relu")(x)
    norm = keras.layers.BatchNormalization()(conv)
    rows = keras.layers.Reshape((6, 6 * 16))(norm)
    lstm = keras.layers.LSTM(32, return_sequences=True)(rows)
    last = keras.layers.Dropout(0.2)(lstm[:, -1])
    logits = keras.layers.Dense(10)(last)
    predictions = {"classes": tf.argmax(logits, 1)}
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, predictions=predictions)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = lw.minimize(keras.optimizers.Adam(1e-3), loss)
    accuracy = v1.metrics.accuracy(labels, predictions["classes"])
    return lw.EstimatorSpec(mode, predictions, loss, train_op, eval_metric_ops={"accuracy": accuracy})


def main(model_dir: str, steps: int = 400) -> None:
    train, test = digits.load()
    est = lw.Estimator(model_fn, model_dir)
    print(est.describe(lambda: digits.input_fn(train, "train")))
    est.train(lambda: digits.input_fn(train, "train"), steps=steps)
    print("accuracy:", est.evaluate(lambda: digits.input_fn(test, "eval"))["accuracy"])
    for row in est.predict(
        lambda: digits.input_fn(test, "infer"), predict_keys=[], taps=["layers/conv2d", "layers/lstm"]
    ):
        print({path: value.shape for path, value in row.items()}, "per digit; nothing past the LSTM was computed")
        break


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
