"""Losses of Keras 3 under a strategy: each replica's is the mean over its batch, as on one device.

Keras divides a loss by the number of replicas, for optimizers that add up gradients. In a `model_fn` the mean over
replicas is taken, of losses and of gradients; there it would be divided twice.
"""

from __future__ import annotations

import functools
from typing import Any

from lightwell.foreign import private_keras
from lightwell.foreign.patches import Patches
from lightwell.model.interop.trace import active_trace


def patch_losses(keras: Any, patches: Patches) -> None:
    """Leaves losses as they are where a model is built."""
    module = private_keras.loss_module(keras)
    for name in ("scale_loss_for_distribution", "unscale_loss_for_distribution"):
        if hasattr(module, name):  # a Keras that has it no more does not divide there
            patches.wrap(module, name, _unless_in_model_fn)


def _unless_in_model_fn(original: Any) -> Any:
    @functools.wraps(original)
    def scaled(value: Any) -> Any:
        return original(value) if active_trace() is None else value

    return scaled
