"""The runs that are recorded from tf.estimator 2.15 and repeated with `lightwell`: the same code for both.

Each takes the estimator module and a fresh directory, and gives plain values.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity import model_dirs, models

v1 = tf.compat.v1


def run_config(lib: Any, **settings: Any) -> Any:
    """Cadences that differ from each other, so that a mixed-up one shows."""
    defaults = {"save_checkpoints_steps": 20, "save_summary_steps": 10, "log_step_count_steps": 15}
    return lib.RunConfig(**{**defaults, **settings})


def write_checkpoint(directory: Path, values: dict[str, Any]) -> str:
    """A checkpoint that holds exactly `values`; returns its path."""
    with tf.Graph().as_default(), v1.Session() as session:
        made = {name: v1.get_variable(name, initializer=value) for name, value in values.items()}
        session.run(v1.global_variables_initializer())
        return str(v1.train.Saver(made).save(session, str(directory / "initial")))


def estimator(lib: Any, kind: str, model_dir: Path, initial: dict[str, Any]) -> Any:
    """The MLP takes its first weights from `Scaffold.init_fn`, the CNN from a warm start: both ways are in use."""
    if kind == "mlp":
        return lib.Estimator(
            models.classifier(lib, kind), str(model_dir / "run"), run_config(lib), params={"init_fn": initial}
        )
    warm = write_checkpoint(model_dir, initial)
    return lib.Estimator(
        models.classifier(lib, kind), str(model_dir / "run"), run_config(lib), params={}, warm_start_from=warm
    )


def predictions(est: Any, kind: str) -> dict[str, Any]:
    """All rows of `predict`, stacked per key."""
    rows = list(est.predict(models.input_fn(kind, repeat=False)))
    return {key: np.stack([row[key] for row in rows]) for key in rows[0]}


def evaluation(est: Any, kind: str, **arguments: Any) -> dict[str, float]:
    """`evaluate`'s dict, in its order, as Python numbers."""
    return {key: float(value) for key, value in est.evaluate(models.input_fn(kind, repeat=False), **arguments).items()}


def train_evaluate_predict(
    lib: Any, kind: str, directory: Path, initial: dict[str, Any], watched: bool
) -> dict[str, Any]:
    """50 Adam steps, two evaluations, a prediction. `watched`: a hook reads the loss of every step."""
    est, losses = estimator(lib, kind, directory, initial), models.Losses()
    est.train(models.input_fn(kind, repeat=True), steps=50, hooks=[losses] if watched else None)
    run = Path(est.model_dir)
    return {
        "losses": losses.seen,
        "evaluation": evaluation(est, kind),
        "evaluation_of_two_batches": evaluation(est, kind, steps=2, name="two"),
        "predictions": predictions(est, kind),
        "variables": model_dirs.variables(run),
        "values": model_dirs.values(run),
        "files": model_dirs.files_of_both(run),
        "checkpoint": (run / "checkpoint").read_text(),
        "events": model_dirs.events(run),
        "eval_events": model_dirs.events(run / "eval"),
        "named_eval_events": model_dirs.events(run / "eval_two"),
        "loss_summaries": model_dirs.scalars(run, "loss"),
    }


def resume(lib: Any, kind: str, model_dir: Path, steps: int = 10) -> dict[str, Any]:
    """What a trained `model_dir` gives: evaluation, predictions, the next losses, and the weights after them."""
    est = lib.Estimator(models.classifier(lib, kind), str(model_dir), run_config(lib), params={})
    before = {"evaluation": evaluation(est, kind), "predictions": predictions(est, kind)}
    losses = models.Losses()
    est.train(models.input_fn(kind, repeat=True), steps=steps, hooks=[losses])
    return {
        **before,
        "losses": losses.seen,
        "values": model_dirs.values(model_dir),
        "evaluation_after": evaluation(est, kind),
    }
