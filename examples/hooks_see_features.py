"""Hooks that reach features, labels, layers and weights: the old way, which still works, and the one line it takes now.

The old way: `model_fn` puts a tensor into a graph collection, and a hook takes it from there. The new way leaves
`model_fn` alone: a path names the value.
"""

from __future__ import annotations

import sys
import tempfile
from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1


def input_fn() -> tf.data.Dataset:
    rng = np.random.default_rng(0)
    age = rng.uniform(18, 80, [256, 1]).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"age": age}, (age > 40).astype(np.float32))).repeat().batch(32)


def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    v1.add_to_collection("my_features", features["age"])
    hidden = lw.layers.dense(features["age"] / 50 - 1, 8, activation=tf.nn.relu, name="my_dense_layer")
    v1.add_to_collection("my_weights", hidden.kernel)  # what a layer function returns knows its layer
    logits = lw.layers.dense(hidden, 1, name="my_predictions")
    loss = v1.losses.sigmoid_cross_entropy(labels, logits)
    train_op = v1.train.AdamOptimizer(0.01).minimize(loss, global_step=v1.train.get_global_step())
    return lw.EstimatorSpec(mode, predictions=tf.sigmoid(logits), loss=loss, train_op=train_op)


class FeatureHook(v1.train.SessionRunHook):
    """As programs wrote it for `tf.estimator`: collections, and fetches by tensor."""

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs([v1.get_collection("my_features")[0], v1.get_collection("my_weights")[0]])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        ages, kernel = run_values.results
        print(f"old hook:   mean age {ages.mean():.1f}, |kernel| {np.abs(kernel).mean():.3f}")
        run_context.request_stop()


class PathHook(v1.train.SessionRunHook):
    """The same hook with paths in place of tensors; `model_fn` needs no collection for it."""

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs({"age": "features/age", "hidden": run_context.layers["my_dense_layer"]})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        shapes = {name: value.shape for name, value in run_values.results.items()}
        print(f"path hook:  {shapes}")
        run_context.request_stop()


def main(model_dir: str, steps: int = 200) -> None:
    est = lw.Estimator(model_fn, model_dir)
    est.train(input_fn, steps=steps, hooks=[FeatureHook()])
    est.train(input_fn, steps=steps, hooks=[PathHook()])

    def look(step: Any) -> None:
        silent = float((step["layers/my_dense_layer"] == 0).mean())
        print(f"watch:      step {step.global_step}, mean age {step['features/age'].mean():.1f}, {silent:.0%} silent")

    watch = lw.Watch("features/age", "labels", "layers/my_dense_layer", every=50, do=look)
    enough = lw.stop_when("loss", lambda loss: loss < 0.2, every=10)
    est.train(input_fn, steps=steps, hooks=[watch, enough])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
