"""Lightning's `Trainer`, with logging, checkpoints and the progress bar off."""

from __future__ import annotations

import functools
import logging
import time
import warnings
from collections.abc import Callable
from typing import Any

import lightning
from torch.nn import functional
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

from benchmarks.workers import data, torch_models
from benchmarks.workers.protocol import Measure, Plan, Worker, measured_steps

worker = Worker(("lightning", "torch", "numpy"))
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", module="lightning")


class Module(lightning.LightningModule):
    """A network with its loss and optimizer."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def training_step(self, batch: Any, index: int) -> Any:
        """The loss of a batch."""
        pixels, labels = batch
        return functional.cross_entropy(self.network(pixels), labels)

    def configure_optimizers(self) -> Any:
        """Adam."""
        return torch_models.adam(self)


class Stamp(lightning.Callback):
    """Notes the time after certain steps."""

    def __init__(self, steps: list[int]) -> None:
        self._steps, self.times = frozenset(steps), []  # type: ignore[var-annotated]

    def on_train_batch_end(self, trainer: Any, *unused: Any) -> None:
        if trainer.global_step in self._steps:
            self.times.append(time.perf_counter())


def loader() -> DataLoader[Any]:
    """Shuffled batches, each taken from the tensors at once: the fastest way a `DataLoader` has for data in memory."""
    dataset = TensorDataset(*torch_models.digits(data.TRAIN_ROWS))
    sampler = BatchSampler(RandomSampler(dataset), data.BATCH, drop_last=True)
    return DataLoader(dataset, sampler=sampler, batch_size=None)


def train(make: Callable[[], Any], warm: int, multiple: int, plan: Plan) -> Measure:
    """Training."""
    batches, module = loader(), Module(make())

    def run(steps: int) -> float:
        clock = Stamp([warm, warm + steps])
        trainer = lightning.Trainer(
            accelerator="cpu",
            devices=1,
            max_steps=warm + steps,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            callbacks=[clock],
        )
        trainer.fit(module, batches)
        return steps / (clock.times[1] - clock.times[0])

    return measured_steps(run, plan, guess=multiple, multiple=multiple)


worker.piece("mlp")(functools.partial(train, torch_models.mlp, 100, 50))
worker.piece("cnn")(functools.partial(train, torch_models.cnn, 5, 10))

if __name__ == "__main__":
    worker.serve()
