"""What the tests of the workflow are made of: an exporter that notes its calls, observers, short runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests import tiny

import lightwell as lw
from lightwell.estimator.workflow.observers import Evaluation, EvaluationObserver


class Noting:
    """An exporter that derives from nothing."""

    def __init__(self, name: str, calls: list[Any] | None = None) -> None:
        self.name = name
        self.calls = [] if calls is None else calls

    def export(
        self, estimator: Any, export_path: Any, checkpoint_path: Any, eval_result: Any, is_the_final_export: Any
    ) -> str:
        step = int(eval_result["global_step"])
        self.calls.append((self.name, os.path.basename(checkpoint_path), step, is_the_final_export))
        return f"{export_path}/{step}"


class Watching(EvaluationObserver):
    """Notes what it is told; asks for the end at a step."""

    def __init__(self, calls: list[Any], stop_at: int | None = None) -> None:
        self.calls, self.stop_at = calls, stop_at

    def begin(self, estimator: Any) -> None:
        self.calls.append("begin")

    def after_evaluation(self, evaluation: Evaluation) -> str | None:
        self.calls.append((evaluation.name, evaluation.global_step, os.path.basename(evaluation.checkpoint_path)))
        enough = self.stop_at is not None and evaluation.global_step >= self.stop_at
        return f"Step {self.stop_at} is enough." if enough else None

    def end(self, estimator: Any) -> None:
        self.calls.append("end")


def train(max_steps: int | None = 6, input_fn: Callable[..., Any] = tiny.data, **given: Any) -> lw.TrainSpec:
    return lw.TrainSpec(input_fn, max_steps, **given)


def evaluation(name: str | None = None, **given: Any) -> lw.EvalSpec:
    """All the data, after each checkpoint unless told otherwise."""
    some = {"every_checkpoints": 1} if not {"every_steps", "every_checkpoints", "throttle_secs"} & set(given) else {}
    return lw.EvalSpec(tiny.once, None, name, **{**some, **given})


def estimator(model_dir: Path, **settings: Any) -> lw.Estimator:
    """One that saves every second step."""
    return tiny.estimator(model_dir, **{"save_checkpoints_steps": 2, **settings})


def steps_of(result: Any, name: str = "") -> list[int]:
    return [one.global_step for one in result.evaluations if one.name == name]


def slice_of_data() -> Any:
    """Other data than `tiny.once`: the first half of it."""
    return tf.data.Dataset.from_tensor_slices(({"x": tiny.X[:4]}, np.zeros(4, np.float32))).batch(2)
