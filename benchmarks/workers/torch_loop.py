"""A plain PyTorch loop: no framework around it, batches taken from tensors by index."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from benchmarks.workers import data, torch_models
from benchmarks.workers.protocol import Measure, Plan, Worker, measured_steps, seconds_per_call

worker = Worker(("torch", "numpy"))


def train(make: Callable[[], Any], multiple: int, plan: Plan) -> Measure:
    """Training."""
    pixels, labels = torch_models.digits(data.TRAIN_ROWS)
    model, batches = make(), data.Batches(data.TRAIN_ROWS)
    optimizer = torch_models.adam(model)
    model.train()

    def run(steps: int) -> float:
        started = time.perf_counter()
        for _ in range(steps):
            rows = torch.from_numpy(batches.next())
            loss = functional.cross_entropy(model(pixels[rows]), labels[rows])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        return steps / (time.perf_counter() - started)

    run(multiple)
    return measured_steps(run, plan, guess=multiple, multiple=multiple)


worker.piece("mlp")(functools.partial(train, torch_models.mlp, 50))
worker.piece("cnn")(functools.partial(train, torch_models.cnn, 10))


def prediction() -> Callable[[Any], dict[str, Any]]:
    """A function from rows to class and probabilities."""
    model = torch_models.mlp().eval()

    def predict(pixels: Any) -> dict[str, Any]:
        with torch.inference_mode():
            logits = model(torch.from_numpy(pixels))
            return {"classes": logits.argmax(1).numpy(), "probabilities": logits.softmax(1).numpy()}

    return predict


def predict_batches(batch: int, plan: Plan) -> Measure:
    """All rows, batch by batch."""
    rows = plan.scaled(data.PREDICT_ROWS, 500)
    pixels, predict = data.digits(rows)[0], prediction()

    def call() -> None:
        for part in data.slices(rows, batch):
            predict(pixels[part])

    call()
    return lambda: {"per_second": rows / seconds_per_call(call, plan.seconds)}


worker.piece("predict_batches")(functools.partial(predict_batches, data.BATCH))
worker.piece("predict_batches_256")(functools.partial(predict_batches, 256))


@worker.piece("one_row")
def one_row(plan: Plan) -> Measure:
    """One row, again and again."""
    row, predict = data.digits(1)[0], prediction()
    for _ in range(100):
        predict(row)
    return lambda: {"seconds": seconds_per_call(lambda: predict(row), plan.seconds)}


if __name__ == "__main__":
    worker.serve()
