"""`train_and_evaluate` with many evaluations: how much of its time is neither a training step nor an evaluation step.

Both kinds of steps are timed where they run. Of the training, the middle of each stretch between two checkpoints is
timed and counted for the whole of it; of the evaluation, what a batch more costs. What is left is everything else:
building, checkpoints, sessions, events, the log.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from typing import Any

from benchmarks.workers import data
from benchmarks.workers import estimator_models as models
from benchmarks.workers.estimator_models import Api
from benchmarks.workers.protocol import Figures, Measure, Plan

EVALUATIONS = 20
STEPS_BETWEEN = 60_000 // data.BATCH  # an epoch of MNIST, and then its test set
EVALUATION_ROWS = 10_000
_REPEATS = 7
_TIMES = 4


def evaluated_training(api: Api, plan: Plan, **settings: Any) -> Measure:
    """Prepares it; `settings` are those of `RunConfig`."""
    evaluations, between = plan.scaled(EVALUATIONS, 3), plan.scaled(STEPS_BETWEEN, 40)
    batches = plan.scaled(EVALUATION_ROWS, 640) // data.BATCH
    pixels, labels = data.digits(batches * data.BATCH)
    evaluated = models.ordered_input(api, ({"x": pixels}, labels))
    trained_on = models.digits_input(api, data.TRAIN_ROWS)

    def many_times() -> Any:
        return evaluated().repeat(_TIMES)

    def seconds_of_a_batch(estimator: Any) -> float:
        """What a batch costs more, in an evaluation of the data several times over than in one of the data."""
        _seconds(estimator, evaluated), _seconds(estimator, many_times)
        more = [_seconds(estimator, many_times) - _seconds(estimator, evaluated) for _ in range(_REPEATS)]
        return max(statistics.median(more), 0.0) / ((_TIMES - 1) * batches)

    def measure() -> Figures:
        times: list[float] = []
        margin = between // 5  # around a checkpoint
        edges = [
            edge
            for start in range(0, evaluations * between, between)
            for edge in (start + margin, start + between - margin)
        ]
        with tempfile.TemporaryDirectory() as model_dir:
            config = api.estimator.RunConfig(save_checkpoints_steps=between, **settings)
            estimator = api.Estimator(models.mlp(api), model_dir, config)
            train = api.estimator.TrainSpec(trained_on, evaluations * between, hooks=[api.stamp(edges, times)])
            evaluation = api.estimator.EvalSpec(evaluated, steps=None, throttle_secs=0)
            started = time.perf_counter()
            api.estimator.train_and_evaluate(estimator, train, evaluation)
            whole = time.perf_counter() - started
            evaluating = evaluations * batches * seconds_of_a_batch(estimator)
        timed_steps = sum(edges[1::2]) - sum(edges[::2])
        timed = sum(times[1::2]) - sum(times[::2])
        training = timed * evaluations * between / timed_steps
        return {
            "share": 1 - (training + evaluating) / whole,
            "whole": whole,
            "training": training,
            "evaluating": evaluating,
        }

    return measure


def _seconds(estimator: Any, input_fn: Any) -> float:
    started = time.perf_counter()
    estimator.evaluate(input_fn)
    return time.perf_counter() - started
