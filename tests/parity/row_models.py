"""Models that read the rows of arrays and frames: what they learn and answer, as plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import tensorflow as tf

v1 = tf.compat.v1
_DRAWN = np.random.RandomState(3)
X = _DRAWN.randn(50, 3).astype(np.float32)
Y = X.sum(axis=1, keepdims=True)
FRAME = pd.DataFrame(X, columns=["p", "q", "r"])
Run = Callable[[Any, Path], Any]


def _model(estimator: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        x = features["x"] if "x" in features else tf.stack([features[key] for key in "pqr"], axis=1)
        first, last = v1.get_variable("first", [3, 4]), v1.get_variable("last", [4, 1])
        out = tf.matmul(tf.tanh(tf.matmul(x, first)), last)
        if mode == estimator.ModeKeys.PREDICT:
            return estimator.EstimatorSpec(mode, predictions={"out": out})
        loss = tf.reduce_mean(tf.square(out - tf.reshape(labels, [-1, 1])))
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=v1.train.get_global_step())
        metrics = {"error": v1.metrics.mean_absolute_error(tf.reshape(labels, [-1, 1]), out)}
        return estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    return model_fn


class _Losses(v1.train.SessionRunHook):  # type: ignore[misc]
    def __init__(self) -> None:
        self.seen: list[float] = []

    def before_run(self, run_context: Any) -> Any:
        loss = v1.get_collection(v1.GraphKeys.LOSSES)
        return v1.train.SessionRunArgs(loss or "Mean:0")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.seen.append(float(np.ravel(run_values.results)[0]))


def _run(make: Callable[[Any, Any], Any], steps: int | None) -> Run:
    """Trains, evaluates, predicts; `make(inputs, epochs)` makes the `input_fn`."""

    def run(estimator: Any, folder: Path) -> Any:
        config = estimator.RunConfig(str(folder), tf_random_seed=7)
        made, losses = estimator.Estimator(_model(estimator), config=config), _Losses()
        made.train(make(estimator.inputs, 2 if steps is None else None), hooks=[losses], steps=steps)
        evaluated = made.evaluate(make(estimator.inputs, 1))
        predicted = [float(row["out"][0]) for row in made.predict(make(estimator.inputs, 1))]
        return {
            "losses": losses.seen,
            "evaluated": {key: float(value) for key, value in sorted(evaluated.items())},
            "predicted": predicted,
        }

    return run


def _start_when_shuffled(estimator: Any, folder: Path) -> Any:
    """The weights that a model starts with, which hang on how often the input asked for a seed."""
    made = estimator.Estimator(_model(estimator), config=estimator.RunConfig(str(folder), tf_random_seed=7))
    made.train(estimator.inputs.numpy_input_fn({"x": X}, Y, num_epochs=1, shuffle=True, batch_size=50), max_steps=1)
    first = tf.train.load_variable(tf.train.latest_checkpoint(str(folder)), "first")
    return {
        "after one step on all rows": np.asarray(first, np.float64).tolist(),
        "step": int(made.get_variable_value("global_step")),
    }


RUNS: dict[str, Run] = {
    "arrays": _run(lambda inputs, n: inputs.numpy_input_fn({"x": X}, Y, 8, n, shuffle=False), 20),
    "arrays to their end": _run(lambda inputs, n: inputs.numpy_input_fn({"x": X}, Y, 8, n, shuffle=False), None),
    "a frame": _run(lambda inputs, n: inputs.pandas_input_fn(FRAME, pd.Series(Y[:, 0]), 8, n, shuffle=False), 20),
    "shuffled": _start_when_shuffled,
}
