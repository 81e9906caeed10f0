"""tf.estimator on TensorFlow 2.15.1, the original."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from benchmarks.workers.estimators import Api, register
from benchmarks.workers.protocol import Worker, mark

worker = Worker(("tensorflow-cpu", "tensorflow", "tensorflow-estimator", "numpy"))


class Stamp(tf.estimator.SessionRunHook):
    """Marks the time after certain steps. It fetches nothing, so it costs two empty calls a step."""

    def __init__(self, steps: Sequence[int], times: list[float]) -> None:
        self._steps, self._times, self._count = frozenset(steps), times, 0

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._count += 1
        if self._count in self._steps:
            mark(self._times, len(self._steps))


register(worker, Api(tf=tf, layers=tf.compat.v1.layers, estimator=tf.estimator, stamp=Stamp))

if __name__ == "__main__":
    worker.serve()
