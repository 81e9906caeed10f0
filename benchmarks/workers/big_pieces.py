"""Training of the big models with an Estimator, Lightwell's or the original: steps, start and peak of memory."""

from __future__ import annotations

import functools
import tempfile
import time
from typing import Any

from benchmarks.workers import estimator_models as models
from benchmarks.workers.big_models import TOUCHED_MB, Big, big_models
from benchmarks.workers.estimator_models import Api
from benchmarks.workers.protocol import Measure, Plan, Worker, touched_memory, watched_memory


def register_big(worker: Worker, api: Api) -> None:
    """Adds the rows of each model."""
    for name in big_models(is_quick=True):
        worker.piece(f"big_{name}")(functools.partial(_training, api, name))
        worker.piece(f"big_{name}_start")(functools.partial(_training, api, name))
        worker.piece(f"big_{name}_memory")(functools.partial(_training, api, name))


def _training(api: Api, name: str, plan: Plan) -> Measure:
    """One training tells all: every measurement is made in a process of its own."""
    big = big_models(plan.is_quick)[name]
    arrays = big.arrays()
    touched_memory(plan.scaled(TOUCHED_MB, 1))

    def measure() -> dict[str, Any]:
        times: list[float] = []
        memory_mb, started = watched_memory(), time.perf_counter()
        with tempfile.TemporaryDirectory() as model_dir:
            hooks = [api.stamp([1, big.warm, big.warm + big.steps], times)]
            input_fn = models.training_input(api, arrays, big.batch)
            api.Estimator(_model_fn(api, big), model_dir).train(input_fn, hooks=hooks, steps=big.warm + big.steps)
        rate = big.steps / (times[2] - times[1])
        return {"per_second": rate, "seconds": times[0] - started, "megabytes": memory_mb()}

    return measure


def _model_fn(api: Api, big: Big) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        loss = big.loss(api.tf, api.layers.dense, features, labels)
        step = api.tf.compat.v1.train.get_global_step()
        return api.EstimatorSpec(mode=mode, loss=loss, train_op=big.optimizer(api.tf).minimize(loss, global_step=step))

    return model_fn
