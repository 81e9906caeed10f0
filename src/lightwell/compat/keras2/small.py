"""Small functions of `tf.keras` whose arguments changed."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError


def to_categorical_of_y(to_categorical: Any) -> Any:
    """Wrap `utils.to_categorical(y, num_classes, dtype)`, which Keras 3 calls `to_categorical(x, num_classes)`."""

    @functools.wraps(to_categorical)
    def old(*args: Any, **kwargs: Any) -> Any:
        if "y" in kwargs:
            kwargs["x"] = kwargs.pop("y")
        dtype = kwargs.pop("dtype", args[2] if len(args) > 2 else None)
        found = to_categorical(*args[:2], **kwargs)
        return found if dtype is None else np.asarray(found).astype(dtype)

    return old


def to_ordinal(y: Any, num_classes: int | None = None, dtype: str = "float32") -> Any:
    """The class `k` of `num_classes` as `k` ones, followed by zeros, in `num_classes - 1` places."""
    classes = np.asarray(y, "int")
    classes = classes[..., 0] if classes.ndim > 1 and classes.shape[-1] == 1 else classes
    places = (int(classes.max()) + 1 if num_classes is None else num_classes) - 1
    return (np.arange(places) < classes[..., None]).astype(dtype)


def input_without_tensor(make: Any) -> Any:
    """Wrap `Input`, which made an input of any tensor: of Keras 3 only a Keras tensor."""

    @functools.wraps(make)
    def old(*args: Any, **kwargs: Any) -> Any:
        tensor = kwargs.get("tensor")
        if tensor is not None and tf.is_tensor(tensor):
            raise UsageError(
                "tf.keras.Input(tensor=...): an input of Keras 3 is symbolic, and cannot stand for a tensor. Call the "
                "layers, or the model, on the tensor itself: model(features)."
            )
        kwargs.pop("type_spec", None)
        return make(*args, **kwargs)

    return old


def _legacy(name: str) -> Any:
    def wrap(placeholder: Any) -> Any:
        """What stands in the place of a class that raises in Keras 3."""
        del placeholder
        return getattr(importlib.import_module("lightwell.compat.keras2.pages.legacy_optimizers"), name)

    return wrap


legacy_adagrad = _legacy("Adagrad")
legacy_adam = _legacy("Adam")
legacy_ftrl = _legacy("Ftrl")
legacy_optimizer = _legacy("Optimizer")
legacy_rmsprop = _legacy("RMSprop")
legacy_sgd = _legacy("SGD")
