"""How early does a network know the class? A linear probe on each of its layers, trained on a capture.

The digit CNN is trained, all its layers are captured once over the training digits and once over the test digits, and
one linear model for each layer is trained on what is on disk. The CNN itself is not run again.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import numpy as np
import tensorflow as tf
from digits import input_fn, load, model_fn

import lightwell as lw

v1 = tf.compat.v1
STEPS = 300
LAYERS = ["layers/max_pooling2d", "layers/max_pooling2d_1", "layers/dense"]


def with_ids(data: dict[str, np.ndarray]) -> tf.data.Dataset:
    """The digits once, in order, each with a number that identifies it."""
    features = {"x": data["x"], "id": np.arange(len(data["x"]))}
    return tf.data.Dataset.from_tensor_slices((features, data["y"])).batch(64)


def probe_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    """One linear layer on the captured values."""
    logits = lw.layers.dense(lw.layers.flatten(features), 10)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = v1.train.AdamOptimizer(0.01).minimize(loss, v1.train.get_global_step())
    accuracy = v1.metrics.accuracy(labels, tf.argmax(logits, 1))
    return lw.EstimatorSpec(mode, {"logits": logits}, loss, train_op, {"accuracy": accuracy})


def main(model_dir: str) -> None:
    train, test = load()
    cnn = lw.Estimator(model_fn, model_dir, params={"learning_rate": 1e-3})
    cnn.train(lambda: input_fn(train, lw.ModeKeys.TRAIN), steps=STEPS)

    taps, key = [*LAYERS, "labels"], "id"
    seen = cnn.capture(lambda: with_ids(train), taps, os.path.join(model_dir, "acts", "train"), key=key)
    held_out = cnn.capture(lambda: with_ids(test), taps, os.path.join(model_dir, "acts", "test"), key=key)
    print(seen)

    for layer in LAYERS:
        probe = lw.Estimator(probe_fn, os.path.join(model_dir, "probes", layer.rpartition("/")[2]))
        probe.train(seen.input_fn(layer, "labels", batch_size=64, shuffle=1, repeat=True), steps=STEPS)
        accuracy = probe.evaluate(held_out.input_fn(layer, "labels"))["accuracy"]
        print(f"a linear probe on {layer:24} {accuracy:.3f}")
    print(f"the network itself                         {cnn.evaluate(lambda: with_ids(test))['accuracy']:.3f}")

    best = held_out.top("layers/dense", unit=int(np.argmax(held_out.stats("layers/dense").std)), k=3)
    print(best)
    print("they are the digits", test["y"][best.keys].tolist())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
