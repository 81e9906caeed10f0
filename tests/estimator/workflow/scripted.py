"""A model whose metrics follow a script: what an evaluation finds depends on the step alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1
EVERY = 10


def follows(values: Sequence[float], metric: str = "accuracy") -> Callable[..., Any]:
    """A `model_fn` whose metric is `values[n]` after `EVERY * n` steps; its weight `w` counts the steps."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        step = v1.train.get_or_create_global_step()
        told = tf.gather(tf.constant(list(values), tf.float32), tf.cast(step // EVERY, tf.int32))
        if mode == "infer":
            return lw.EstimatorSpec(mode, predictions={"w": w + 0 * features["x"]})
        train_op = tf.group(v1.assign_add(step, 1), v1.assign_add(w, 1.0))
        loss = w + 0 * tf.reduce_mean(features["x"])
        return lw.EstimatorSpec(
            mode,
            loss=loss,
            train_op=train_op,
            eval_metric_ops={metric: v1.metrics.mean(told), "other": v1.metrics.mean(w)},
        )

    return model_fn


def estimator(model_dir: Path | str, values: Sequence[float], metric: str = "accuracy", **settings: Any) -> Any:
    """An Estimator of it, that keeps two checkpoints."""
    config = lw.RunConfig(str(model_dir), save_checkpoints_steps=1000, **{"keep_checkpoint_max": 2, **settings})
    return lw.Estimator(follows(values, metric), config=config)


def rounds(est: Any, count: int, *observers: Any) -> int:
    """Trains and evaluates in turn, up to so many times, until an observer wants to stop; gives how often."""
    for number in range(1, count + 1):
        metrics = est.train(tiny.data, steps=EVERY).evaluate(tiny.once)
        if [reason for reason in [observer.offer(est, metrics) for observer in observers] if reason]:
            return number
    return count
