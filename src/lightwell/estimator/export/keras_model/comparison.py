"""Compares a Keras model with `predict` on rows of the user."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from lightwell.base.log import logger
from lightwell.errors import UsageError

_ALLOWED = 1e-3  # far above rounding, far below the error of another model
_ALLOWED_SHARE = 0.1  # of classes and other integers, which a difference in the last digit may flip


def feature_paths(inputs: Any, path: str = "features") -> list[str]:
    """The paths of a model's inputs."""
    if not isinstance(inputs, Mapping):
        return [path]
    return [leaf for key, part in inputs.items() for leaf in feature_paths(part, f"{path}/{key}")]


def check_model(model: Any, batch: Mapping[str, Any] | None) -> None:
    """Compares the model with `predict` on one batch, and logs the largest difference.

    Args:
        model: the Keras model.
        batch: the predictions for a batch, with its features by path; None if there was none.

    Raises:
        UsageError: their predictions differ.
    """
    if batch is None:
        return
    outputs = model(_features(model.input, batch))
    by_name = outputs if isinstance(outputs, Mapping) else {"predictions": outputs}
    differences = {key: _difference(np.asarray(value), np.asarray(batch[key])) for key, value in by_name.items()}
    worst = max(differences, key=lambda key: differences[key])
    if differences[worst] > _ALLOWED:
        raise UsageError(
            f"to_keras: the Keras model must give what predict gives, but on the first batch of input_fn {worst!r} "
            f"differs by {differences[worst]:.3g}. Does a layer of yours leave a setting out of get_config(), or does "
            "the model draw random numbers in predict? Give to_keras the features as tf.TensorSpec instead of an "
            "input_fn to have the model unchecked."
        )
    logger.info(
        "to_keras: on the first batch of input_fn the Keras model differs from predict by at most %.3g (%s).",
        differences[worst],
        worst,
    )


def _features(inputs: Any, batch: Mapping[str, Any], path: str = "features") -> Any:
    if not isinstance(inputs, Mapping):
        return batch[path]
    return {key: _features(part, batch, f"{path}/{key}") for key, part in inputs.items()}


def _difference(actual: Any, expected: Any) -> float:
    """The largest difference, relative for values above 1; for integers and strings, 0 or infinite."""
    if actual.shape != expected.shape:
        return math.inf
    if not actual.size:
        return 0.0
    if not np.issubdtype(actual.dtype, np.inexact):
        return 0.0 if np.mean(actual != expected) <= _ALLOWED_SHARE else math.inf
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    distances = np.where(same, 0.0, np.abs(actual - expected) / np.maximum(1.0, np.abs(expected)))
    return math.inf if np.isnan(distances).any() else float(distances.max())
