"""The models along each axis of growth, the same for every contender."""

from __future__ import annotations

import math

from benchmarks.workers.data import CLASSES

FEATURES = 64
WIDTH = 64
BATCH = 32
TAPPED_LAYERS = 64
WATCHED_LAYERS = 32
THIN = 8  # units of a layer, where there are thousands


def hidden_for(axis: str, size: int) -> tuple[int, ...]:
    """The widths of the hidden layers; the logits are one more layer."""
    if axis == "layers":
        return (WIDTH,) * (size - 1)
    if axis == "watches":
        return (WIDTH,) * (WATCHED_LAYERS - 1)
    if axis == "params":
        return (width_for(size),) * 2
    return (WIDTH,)


def width_for(params: int) -> int:
    """How wide two hidden layers must be for about so many weights in all."""
    around = FEATURES + CLASSES
    return max(1, round((math.sqrt(around**2 + 4 * params) - around) / 2))
