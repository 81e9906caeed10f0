"""Trainings, evaluations and predictions of models that draw random numbers. The same code for both sides.

`SCENES` maps a name to a function of (estimator module, model_dir) that gives plain values: weights, metrics, rows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity import model_dirs
from tests.parity.draws import DRAWS, ROWS, WIDTH, Draw

v1 = tf.compat.v1
Scene = Callable[[Any, Path], Any]
SCENES: dict[str, Scene] = {}
CALLS = 2


def arrays(batches: int = 3) -> tuple[dict[str, Any], Any]:
    """Some batches of features and labels, by arithmetic alone."""
    grid = np.arange(batches * ROWS * WIDTH, dtype=np.float64).reshape(-1, WIDTH)
    x = np.sin(grid * 0.9)
    return {"x": x.astype(np.float32)}, x.sum(axis=1, keepdims=True).astype(np.float32)


def batches(repeat: int | None = None) -> Any:
    """Batches of a fixed size, without end unless `repeat` says how often."""
    return tf.data.Dataset.from_tensor_slices(arrays()).repeat(repeat).batch(ROWS, drop_remainder=True)


def once() -> Any:
    """Three batches."""
    return batches(1)


def drawing(lib: Any, draw: Draw) -> Callable[..., Any]:
    """Two matrices with a draw between them."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        eye = v1.constant_initializer(0.5 * np.eye(WIDTH))
        hidden = features["x"] @ v1.get_variable("h/kernel", [WIDTH, WIDTH], initializer=eye)
        hidden += v1.get_variable("h/bias", [WIDTH], initializer=v1.constant_initializer(0.1))
        drawn = draw(hidden)
        output = drawn @ v1.get_variable("out", [WIDTH, 1], initializer=v1.constant_initializer(0.3))
        if mode == lib.ModeKeys.PREDICT:
            return lib.EstimatorSpec(mode, predictions={"output": output, "drawn": drawn})
        loss = tf.reduce_mean(tf.square(output - labels))
        train_op = v1.train.GradientDescentOptimizer(0.05).minimize(loss, v1.train.get_global_step())
        return lib.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={"mean": v1.metrics.mean(drawn)})

    return model_fn


def weights(model_dir: Path) -> dict[str, Any]:
    """All variables of the newest checkpoint, as lists."""
    return {name: value.tolist() for name, value in model_dirs.values(model_dir).items()}


def estimator(lib: Any, model_dir: Path, model_fn: Any, **settings: Any) -> Any:
    """With a seed; nothing is written but the last checkpoint."""
    quiet = {"tf_random_seed": 1, "save_checkpoints_steps": 100_000, "log_step_count_steps": None}
    return lib.Estimator(model_fn, str(model_dir), lib.RunConfig(**{**quiet, "save_summary_steps": None, **settings}))


def evaluations(est: Any, input_fn: Any = once) -> list[dict[str, float]]:
    """What several evaluations in a row give."""
    return [{key: float(value) for key, value in est.evaluate(input_fn).items()} for _ in range(CALLS)]


def predictions(est: Any, input_fn: Any = once) -> list[list[Any]]:
    """What several predictions in a row give: the outputs of every row."""
    return [[float(row["output"][0]) for row in est.predict(input_fn)] for _ in range(CALLS)]


def _scene(name: str, draw: Draw, steps: int) -> None:
    def run(lib: Any, model_dir: Path) -> Any:
        est = estimator(lib, model_dir, drawing(lib, draw))
        est.train(batches, steps=steps)
        return {"weights": weights(model_dir), "evaluations": evaluations(est), "predictions": predictions(est)}

    SCENES[name] = run


for _name, _one in DRAWS.items():
    _scene(_name, _one, steps=400 if _name == "dropout in a function" else 40)
