"""The data of every peer: the same arrays from the same seeds. NumPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np

FEATURES = 784
CLASSES = 10
BATCH = 32
SHUFFLE = 1024
TRAIN_ROWS = 2048  # small: the original writes its data into the graph, and each training would start by that
PREDICT_ROWS = 20_000
TEXT_COLUMNS = tuple(f"text_{number}" for number in range(10))
NUMBER_COLUMNS = tuple(f"number_{number}" for number in range(10))
VOCABULARY = tuple(f"word_{number}" for number in range(100))

Array = np.ndarray[Any, Any]


def digits(rows: int, features: int = FEATURES, seed: int = 7) -> tuple[Array, Array]:
    """Rows that look like images of digits in shape and range, with labels."""
    generator = np.random.default_rng(seed)
    pixels = generator.random((rows, features), dtype=np.float32)
    return pixels, generator.integers(0, CLASSES, rows, dtype=np.int32)


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
        """The row numbers of the next batch."""
        if self._at + self._batch > self._rows:
            self._order, self._at = self._generator.permutation(self._rows), 0
        self._at += self._batch
        return self._order[self._at - self._batch : self._at]


def slices(rows: int, batch: int) -> list[slice]:
    """The rows in order, batch by batch."""
    return [slice(start, min(start + batch, rows)) for start in range(0, rows, batch)]
