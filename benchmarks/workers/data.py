"""The data of every peer, the same arrays from the same seeds, and the rows that predict them by a function."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workers.protocol import Measure, Plan, Worker, measure_calls

FEATURES = 784
CLASSES = 10
BATCH = 32
SHUFFLE = 1024
TRAIN_ROWS = 2048  # small: the original writes its data into the graph, and each training would start by that
PREDICT_ROWS = 20_000
TEXT_COLUMNS = tuple(f"text_{number}" for number in range(10))
NUMBER_COLUMNS = tuple(f"number_{number}" for number in range(10))
VOCABULARY = tuple(f"word_{number}" for number in range(100))

GROWTH_FEATURES = GROWTH_WIDTH = 64
WATCHED_LAYERS = 32

Array = np.ndarray[Any, Any]
MakePredict = Callable[[], Callable[[Any], Any]]


def digits(rows: int, features: int = FEATURES, seed: int = 7) -> tuple[Array, Array]:
    """Rows that look like images of digits in shape and range, with labels."""
    generator = np.random.default_rng(seed)
    pixels = generator.random((rows, features), dtype=np.float32)
    return pixels, generator.integers(0, CLASSES, rows, dtype=np.int32)


class Network(NamedTuple):
    """A network of a GPU row and its data; of sequences, `features` are those of a step."""

    features: int
    hidden: tuple[int, ...]  # the units of its dense layers
    batch: int
    rows: int
    steps: int = 0  # of a sequence


def gpu_network(key: str, is_quick: bool) -> Network:
    """The networks of classes that are trained on a GPU; of the convolutional one, what follows the convolutions."""
    if is_quick:
        return {
            "gpu_mlp": Network(FEATURES, (8,), 4, 64),
            "gpu_cnn": Network(FEATURES, (1024,), 2, 64),
            "gpu_wide": Network(16, (16, 16), 4, 64),
            "gpu_lstm": Network(3, (5,), 2, 16, 4),
        }[key]
    return {
        "gpu_mlp": Network(FEATURES, (128,), 128, 20_000),
        "gpu_cnn": Network(FEATURES, (1024,), 128, 20_000),
        "gpu_wide": Network(4096, (4096, 4096), 512, 8_192),  # arithmetic is the limit
        "gpu_lstm": Network(128, (256,), 128, 2_048, 64),
    }[key]


def network_data(network: Network) -> tuple[Array, Array]:
    """Its rows, or sequences, and labels."""
    values, labels = digits(network.rows, network.features * max(network.steps, 1))
    return values.reshape(network.rows, network.steps, network.features) if network.steps else values, labels


def clicks(rows: int, seed: int = 7) -> tuple[dict[str, Array], Array]:
    """A table of 10 text and 10 number columns, with a label of 0 or 1."""
    generator = np.random.default_rng(seed)
    words = np.array(VOCABULARY, dtype=np.bytes_)
    table: dict[str, Array] = {name: generator.choice(words, rows) for name in TEXT_COLUMNS}
    table |= {name: generator.standard_normal(rows).astype(np.float32) for name in NUMBER_COLUMNS}
    return table, generator.integers(0, 2, rows).astype(np.float32)


class Batches:
    """An endless walk through the data in an order that is new in each epoch, for peers that bring no pipeline."""

    def __init__(self, rows: int, batch: int = BATCH, seed: int = 7) -> None:
        self._generator = np.random.default_rng(seed)
        self._rows, self._batch, self._at = rows, batch, rows
        self._order = np.arange(rows)

    def next(self) -> Array:
        if self._at + self._batch > self._rows:
            self._order, self._at = self._generator.permutation(self._rows), 0
        self._at += self._batch
        return self._order[self._at - self._batch : self._at]


def growth_layers(row: str, size: int) -> tuple[int, ...]:
    """The widths of the hidden layers in a row of growth; the logits are one more layer."""
    if row == "growth_params":  # two layers that are wide enough for about so many weights in all
        around = GROWTH_FEATURES + CLASSES
        return (max(1, round((math.sqrt(around**2 + 4 * size) - around) / 2)),) * 2
    layers = {"growth_layers": size, "growth_watches": WATCHED_LAYERS}.get(row, 2)
    return (GROWTH_WIDTH,) * (layers - 1)


def register_predictions(worker: Worker, makers: dict[str, MakePredict]) -> None:
    for variant, make in makers.items():
        for row, batch in {"predict_batches": BATCH, "predict_batches_256": 256}.items():
            worker.row(row, variant)(partial(_batches, make, batch))
        worker.row("one_row", variant)(partial(one_row, make))


def _batches(make: MakePredict, batch: int, plan: Plan) -> Measure:
    rows = plan.scaled(PREDICT_ROWS, 500)
    pixels, predict = digits(rows)[0], make()

    def call() -> None:
        for start in range(0, rows, batch):
            predict(pixels[start : start + batch])

    return measure_calls(call, plan, rows)


def one_row(make: MakePredict, plan: Plan) -> Measure:
    """One row, predicted again and again."""
    return measure_calls(partial(make(), digits(1)[0]), plan, warm=100)
