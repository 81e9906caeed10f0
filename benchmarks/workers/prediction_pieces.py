"""The rows that predict, for peers that predict by a function of an array."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from benchmarks.workers import data
from benchmarks.workers.protocol import Measure, Plan, Worker, seconds_per_call

Predict = Callable[[Any], dict[str, Any]]


def add_predictions(worker: Worker, prediction: Callable[[], Predict]) -> None:
    """Teaches a worker the rows; `prediction` makes the function."""
    for row, batch in {"predict_batches": data.BATCH, "predict_batches_256": 256}.items():
        worker.piece(row)(functools.partial(_batches, prediction, batch))
    worker.piece("one_row")(functools.partial(_one_row, prediction))


def _batches(prediction: Callable[[], Predict], batch: int, plan: Plan) -> Measure:
    """All rows, batch by batch."""
    rows = plan.scaled(data.PREDICT_ROWS, 500)
    pixels, predict = data.digits(rows)[0], prediction()

    def call() -> None:
        for part in data.slices(rows, batch):
            predict(pixels[part])

    call()
    return lambda: {"per_second": rows / seconds_per_call(call, plan.seconds)}


def _one_row(prediction: Callable[[], Predict], plan: Plan) -> Measure:
    """One row, again and again."""
    row, predict = data.digits(1)[0], prediction()
    for _ in range(100):
        predict(row)
    return lambda: {"seconds": seconds_per_call(lambda: predict(row), plan.seconds)}
