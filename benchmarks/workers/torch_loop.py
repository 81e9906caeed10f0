"""A plain PyTorch loop: no framework around it, batches taken from tensors by index."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from benchmarks.workers import data, torch_models
from benchmarks.workers.prediction_pieces import add_predictions
from benchmarks.workers.protocol import Measure, Plan, Worker, measured_steps

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


add_predictions(worker, prediction)


if __name__ == "__main__":
    worker.serve()
