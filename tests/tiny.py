"""A model small enough that building it costs nothing: y = w · x + b, with numbers that can be followed by hand.

At the start `w` is 1 and `b` is 0; the data are x = 1 … 8 and y = 2x, in batches of four.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
X = np.arange(1.0, 9.0, dtype=np.float32)
Y = 2 * X


def data(repeat: int | None = None, batch: int = 4) -> Any:
    """Batches of `({"x": x}, y)`; without end unless `repeat` says how often."""
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(repeat).batch(batch)


def once() -> Any:
    """Two batches of four."""
    return data(repeat=1)


def linear(features: Any, labels: Any, mode: str, params: Mapping[str, Any]) -> lw.EstimatorSpec:
    """The model. `params` may hold a `learning_rate`."""
    w = v1.get_variable("w", [], initializer=v1.ones_initializer())
    b = v1.get_variable("b", [], initializer=v1.zeros_initializer())
    out = w * features["x"] + b
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, predictions={"out": out, "twice": 2 * out})
    loss = tf.reduce_mean(tf.square(out - labels))
    optimizer = v1.train.GradientDescentOptimizer(params.get("learning_rate", 0.001))
    train_op = optimizer.minimize(loss, global_step=v1.train.get_global_step())
    metrics = {"mae": v1.metrics.mean_absolute_error(labels, out)}
    return lw.EstimatorSpec(mode, {"out": out}, loss, train_op, metrics)


def estimator(model_dir: Path | str, model_fn: Callable[..., Any] = linear, **settings: Any) -> lw.Estimator:
    """An Estimator of the model; `settings` are those of `RunConfig`, and `params`, `warm_start_from`."""
    own = {name: settings.pop(name) for name in ("params", "warm_start_from") if name in settings}
    if model_fn is linear:
        own.setdefault("params", {})
    config = lw.RunConfig(model_dir=str(model_dir), **{"save_checkpoints_steps": 1000, **settings})
    return lw.Estimator(model_fn, config=config, **own)


def trained(model_dir: Path | str, steps: int = 2, **settings: Any) -> lw.Estimator:
    """One that has been trained for some steps."""
    made = estimator(model_dir, **settings)
    made.train(data, steps=steps)
    return made
