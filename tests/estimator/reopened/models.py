"""The model whose SavedModels are opened again: a table filled from a file, batch normalisation, Adam, two metrics.

It takes the estimator module as an argument, so that the recorder and the tests run the same code.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
X = np.random.RandomState(0).randn(32, 3).astype(np.float32)
WORDS = np.array(["a", "b", "c", "?"])[np.random.RandomState(1).randint(0, 4, 32)]
Y = (X[:, 0] + (WORDS == "a") > 0).astype(np.int64)


def once(batch: int = 8) -> Any:
    """All rows, in their order."""
    return tf.data.Dataset.from_tensor_slices(({"x": X, "word": WORDS}, Y)).batch(batch)


def for_ever() -> Any:
    """Without end."""
    return once().repeat()


def model(lib: Any, layers: Any, vocabulary: Path) -> Callable[..., Any]:
    """The `model_fn`."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        lookup = tf.lookup.TextFileInitializer(
            str(vocabulary),
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
        )
        ids = tf.lookup.StaticVocabularyTable(lookup, 1).lookup(features["word"])
        meaning = tf.nn.embedding_lookup(v1.get_variable("meaning", [4, 2]), ids)
        hidden = layers.dense(tf.concat([features["x"], meaning], 1), 4, name="hidden")
        hidden = tf.nn.relu(layers.batch_normalization(hidden, training=mode == "train", name="norm"))
        logits = layers.dense(hidden, 2, name="logits")
        predictions = {"probabilities": tf.nn.softmax(logits), "class": tf.argmax(logits, 1)}
        if mode == "infer":
            served = {
                "serving_default": lib.export.PredictOutput(predictions),
                "raw": lib.export.PredictOutput({"logits": logits}),
            }
            return lib.EstimatorSpec(mode, predictions, export_outputs=served)
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            train_op = v1.train.AdamOptimizer(0.05).minimize(loss, v1.train.get_global_step())
        metrics = {
            "accuracy": v1.metrics.accuracy(labels, predictions["class"]),
            "auc": v1.metrics.auc(labels, predictions["probabilities"][:, 1]),
        }
        return lib.EstimatorSpec(mode, predictions, loss, train_op, metrics)

    return model_fn


def receivers(lib: Any) -> dict[str, Any]:
    """Receiver functions of all modes."""
    features = {"x": tf.constant(X[:1]), "word": tf.constant(WORDS[:1])}
    supervised = lib.experimental.build_raw_supervised_input_receiver_fn(features, tf.constant(Y[:1]))
    serving = lib.export.build_raw_serving_input_receiver_fn(features)
    return {"train": supervised, "eval": supervised, "infer": serving}


def plain(results: dict[str, Any]) -> dict[str, float]:
    """An evaluation's result as plain numbers."""
    return {name: float(value) for name, value in results.items()}
