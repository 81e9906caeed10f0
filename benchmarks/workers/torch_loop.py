"""PyTorch: a plain loop that takes batches from tensors by index, and Lightning's `Trainer` with all extras off."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from benchmarks.workers import data, gpu_torch
from benchmarks.workers.protocol import Measure, Plan, Worker, measure_loop, measure_steps

worker = Worker(("lightning", "torch", "numpy"))
torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(data.FEATURES, 128), nn.ReLU(), nn.Linear(128, data.CLASSES))


def cnn() -> nn.Module:
    layers: list[nn.Module] = [nn.Unflatten(1, (1, 28, 28))]
    for inputs, outputs in ((1, 32), (32, 64)):
        layers += [nn.Conv2d(inputs, outputs, 5, padding="same"), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Flatten(), nn.Linear(7 * 7 * 64, 1024), nn.ReLU(), nn.Dropout(0.4), nn.Linear(1024, data.CLASSES)]
    return nn.Sequential(*layers)


def digits(rows: int) -> tuple[Any, Any]:
    pixels, labels = data.digits(rows)
    return torch.from_numpy(pixels), torch.from_numpy(labels).long()


def adam(model: nn.Module) -> Any:
    return torch.optim.Adam(model.parameters(), lr=1e-3)


def train(make: Callable[[], nn.Module], multiple: int, plan: Plan) -> Measure:
    (pixels, labels), model = digits(data.TRAIN_ROWS), make().train()
    batches, optimizer = data.Batches(data.TRAIN_ROWS), adam(model)

    def step() -> None:
        order = torch.from_numpy(batches.next())
        loss = functional.cross_entropy(model(pixels[order]), labels[order])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return measure_loop(step, plan, multiple=multiple)


worker.row("mlp")(partial(train, mlp, 50))
worker.row("cnn")(partial(train, cnn, 10))
gpu_torch.register(worker)


def prediction() -> Callable[[Any], dict[str, Any]]:
    model = mlp().eval()

    def predict(pixels: Any) -> dict[str, Any]:
        with torch.inference_mode():
            logits = model(torch.from_numpy(pixels))
            return {"classes": logits.argmax(1).numpy(), "probabilities": logits.softmax(1).numpy()}

    return predict


data.register_predictions(worker, {"": prediction})


def train_lightning(make: Callable[[], nn.Module], warm: int, multiple: int, plan: Plan) -> Measure:
    """Training by Lightning, with the fastest batches that a `DataLoader` has for data in memory."""
    import lightning
    from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")

    class Module(lightning.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.network = make()

        def training_step(self, batch: Any, index: int) -> Any:
            return functional.cross_entropy(self.network(batch[0]), batch[1])

        def configure_optimizers(self) -> Any:
            return adam(self)

    dataset, module = TensorDataset(*digits(data.TRAIN_ROWS)), Module()
    sampler = BatchSampler(RandomSampler(dataset), data.BATCH, drop_last=True)
    batches = DataLoader(dataset, sampler=sampler, batch_size=None)
    off = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)

    def run(steps: int) -> float:
        times = {}

        class Stamp(lightning.Callback):  # type: ignore[misc]
            def on_train_batch_end(self, trainer: Any, *unused: Any) -> None:
                if trainer.global_step in (warm, warm + steps):
                    times[trainer.global_step] = time.perf_counter()

        arguments = {"accelerator": plan.device, "devices": 1, "max_steps": warm + steps, "callbacks": [Stamp()]}
        lightning.Trainer(**arguments, **off).fit(module, batches)
        return steps / (times[warm + steps] - times[warm])

    return measure_steps(run, plan, guess=multiple, multiple=multiple)


worker.row("mlp", "lightning")(partial(train_lightning, mlp, 100, 50))
worker.row("cnn", "lightning")(partial(train_lightning, cnn, 5, 10))

if __name__ == "__main__":
    worker.serve()
