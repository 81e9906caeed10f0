"""A tagger of words as programs of 2018 wrote it: block cells, a normalised LSTM, a linear chain, lazy Adam.

TensorFlow 1.15.5 trains it (Python 3.7 reads this file), and it is trained on here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
WORDS, TAGS, TIME, BATCH = 12, 4, 6, 5
FIRST, MORE = 8, 6


def rows() -> Any:
    random = np.random.RandomState(3)
    words = random.randint(0, WORDS, [BATCH, TIME]).astype(np.int32)
    return {"words": words, "length": np.array([6, 4, 2, 5, 1], np.int32)}, (words % TAGS).astype(np.int32)


def input_fn() -> Any:
    return tf.data.Dataset.from_tensors(rows()).repeat()


def once() -> Any:
    return tf.data.Dataset.from_tensors(rows())


def _uniform(seed: int) -> Any:
    return v1.random_uniform_initializer(-0.5, 0.5, seed=seed)


def model_fn(contrib: Any, estimator: Any) -> Any:
    """The `model_fn` over a `tf.contrib` and the `EstimatorSpec` of a `tf.estimator`."""

    def build(features: Any, labels: Any, mode: str) -> Any:
        length = features["length"]
        table = v1.get_variable("embeddings", [WORDS, 5], initializer=_uniform(1))
        net = tf.nn.embedding_lookup(table, features["words"])
        with v1.variable_scope("encoder", initializer=_uniform(2)):
            (ahead, back), _ = v1.nn.bidirectional_dynamic_rnn(
                contrib.rnn.LSTMBlockCell(4),
                contrib.rnn.LayerNormBasicLSTMCell(4),
                net,
                sequence_length=length,
                dtype=tf.float32,
            )
            turned = tf.transpose(tf.concat([ahead, back], 2), [1, 0, 2])
            fused, _ = contrib.rnn.LSTMBlockFusedCell(3)(turned, dtype=tf.float32, sequence_length=length)
            logits = tf.tensordot(tf.transpose(fused, [1, 0, 2]), v1.get_variable("out", [3, TAGS]), 1)
        likelihood, transitions = contrib.crf.crf_log_likelihood(
            logits, tf.zeros_like(features["words"]) if labels is None else labels, length, _transitions()
        )
        tags, _ = contrib.crf.crf_decode(logits, transitions, length)
        if mode == "infer":
            return estimator.EstimatorSpec(mode, predictions={"tags": tags, "logits": logits})
        loss = tf.identity(tf.reduce_mean(-likelihood), name="the_loss")
        if mode == "eval":
            metrics = {"accuracy": v1.metrics.accuracy(labels, tags, tf.sequence_mask(length, TIME))}
            return estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
        optimizer = contrib.opt.LazyAdamOptimizer(0.05)
        return estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, v1.train.get_global_step()))

    return build


def _transitions() -> Any:
    with v1.variable_scope("crf"):
        return v1.get_variable("transitions", [TAGS, TAGS], initializer=_uniform(3))


class Losses(v1.train.SessionRunHook):  # type: ignore[misc]
    """Keeps the loss of each step."""

    def __init__(self) -> None:
        self.values: Any = []

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs("the_loss:0")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.values.append(float(run_values.results))


def gone_on(made: Any) -> Any:
    """What an Estimator gives that goes on from where it is: losses, metrics, tags."""
    losses = Losses()
    before = made.evaluate(once)
    made.train(input_fn, steps=MORE, hooks=[losses])
    after = made.evaluate(once)
    predicted = list(made.predict(once))
    return {
        "losses": losses.values,
        "before": {key: float(before[key]) for key in ("loss", "accuracy", "global_step")},
        "after": {key: float(after[key]) for key in ("loss", "accuracy", "global_step")},
        "tags": [row["tags"].tolist() for row in predicted],
        "logits": [row["logits"].tolist() for row in predicted],
    }
