"""tf.estimator on TensorFlow 2.15.1, the original."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from benchmarks.workers.big_pieces import register_big
from benchmarks.workers.estimator_models import Api
from benchmarks.workers.estimator_pieces import register
from benchmarks.workers.evaluated_training import evaluated_training
from benchmarks.workers.protocol import Worker

worker = Worker(("tensorflow-cpu", "tensorflow", "tensorflow-estimator", "numpy"))


class Stamp(tf.estimator.SessionRunHook):
    """Notes the time after certain steps. It fetches nothing, so it costs two empty calls a step."""

    def __init__(self, steps: Sequence[int], times: list[float]) -> None:
        self._steps, self._times, self._count = frozenset(steps), times, 0

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._count += 1
        if self._count in self._steps:
            self._times.append(time.perf_counter())


API = Api(tf=tf, layers=tf.compat.v1.layers, estimator=tf.estimator, stamp=Stamp)
register(worker, API)
register_big(worker, API)
worker.piece("train_and_evaluate")(lambda plan: evaluated_training(API, plan))

if __name__ == "__main__":
    worker.serve()
