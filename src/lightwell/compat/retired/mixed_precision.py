"""Cells of `tf.contrib.mixed_precision`."""

from __future__ import annotations

from collections.abc import Mapping

_HERE = "lightwell.compat.contrib.mixed_precision"
_SCALES = "ExponentialUpdateLossScaleManager FixedLossScaleManager LossScaleManager"
CELLS: Mapping[str, str] = {name: f"{_HERE}.scales:{name}" for name in _SCALES.split()} | {
    "": "!Use tf.keras.mixed_precision.",
    "LossScaleOptimizer": f"{_HERE}.optimizer:LossScaleOptimizer",
}
