"""Small Keras models, the Estimators around them, and one way to look at a single build without an Estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw
from lightwell.model.interop.keras_scope import keras_in_model_fn
from lightwell.model.interop.trace import KerasTrace
from lightwell.model.interop.v1_optimizers import v1_optimizers_in_model_fn
from lightwell.model.layers.record import LayerBook, recording
from lightwell.model.optimizers import minimize

v1 = tf.compat.v1
keras = tf.keras
LEGACY = "tf_keras" in keras.layers.Layer.__module__

X = np.random.RandomState(0).randn(64, 6).astype(np.float32)
Y = (X.sum(axis=1) > 0).astype(np.int64)


def batches(size: int = 16, repeat: int | None = None) -> Callable[[], Any]:
    """An input function over X and Y."""
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(repeat).batch(size)


def classifier(network: Callable[[Any], Any], optimizer: Callable[[], Any] | None = None) -> Callable[..., Any]:
    """A model function around `network(x) -> logits`; its train op is made by `minimize`."""

    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        logits = tf.cast(network(features["x"]), tf.float32)
        if mode == lw.ModeKeys.PREDICT:
            return lw.EstimatorSpec(mode, predictions={"logits": logits})
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        loss += v1.losses.get_regularization_loss()
        train_op = None
        if mode == lw.ModeKeys.TRAIN:
            train_op = minimize(optimizer() if optimizer else keras.optimizers.SGD(0.1), loss)
        return lw.EstimatorSpec(mode, {"logits": logits}, loss, train_op)

    return model_fn


def estimator(model_dir: Path | str, model_fn: Callable[..., Any], seed: int = 1, **settings: Any) -> lw.Estimator:
    config = lw.RunConfig(model_dir=str(model_dir), tf_random_seed=seed, log_step_count_steps=None, **settings)
    return lw.Estimator(model_fn, config=config)


@dataclass(frozen=True, eq=False)
class Build:
    """One call of a network in a graph of its own, as `model_fn` would make it."""

    graph: tf.Graph
    trace: KerasTrace
    book: LayerBook
    outputs: Any

    @property
    def variables(self) -> list[str]:
        """Names of the saved variables."""
        return [variable.op.name for variable in self.graph.get_collection("variables")][1:]  # without the global step

    @property
    def layers(self) -> list[str]:
        """Names of the recorded calls."""
        return [call.name for call in self.book]

    def runs(self, times: int = 1, fetch: Any = None) -> list[Any]:
        """What some steps in a new session give; the updates run with each."""
        fetch = self.outputs if fetch is None else fetch
        with self.graph.as_default(), v1.Session(graph=self.graph) as session:
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer(), v1.tables_initializer()])
            return [session.run([fetch, self.trace.updates])[0] for _ in range(times)]


def built(network: Callable[[Any], Any], inputs: Any = X, mode: str = lw.ModeKeys.TRAIN, seed: int | None = 1) -> Build:
    """Calls `network` on a constant in a new graph."""
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(seed)
        v1.train.create_global_step(graph)
        book = LayerBook()
        with recording(book), v1_optimizers_in_model_fn(), keras_in_model_fn(mode) as trace:
            outputs = network(tf.constant(inputs))
        return Build(graph, trace, book, outputs)
