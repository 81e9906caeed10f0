"""Copies of Keras 3 layers: the same class and settings, in no graph, with weights of its own.

A layer that ran in a `model_fn` has its weights in that graph, so only its configuration is copied.
"""

from __future__ import annotations

from typing import Any

import keras

from lightwell.foreign import private_keras


def copy_of(layer: Any) -> Any:
    """A new layer like `layer`, a layer or model of Keras 3, with weights that start as a new layer's do.

    Raises:
        Exception: any error of a layer that cannot be created from its configuration.
    """
    classes = {type(part).__name__: type(part) for part in [layer, *private_keras.layers_in(layer)]}
    with keras.saving.custom_object_scope(classes):
        return _copy(layer)


def _copy(layer: Any) -> Any:
    if type(layer) is keras.Sequential or type(layer).__name__ == "Functional":
        # Layer by layer: a Lambda cannot be created from a configuration.
        copy = keras.models.clone_model(layer, clone_function=_copy)
    elif type(layer) is keras.layers.Lambda:
        shape = private_keras.lambda_output_shape(layer)
        copy = keras.layers.Lambda(layer.function, shape, layer.mask, layer.arguments, dtype=layer.dtype_policy)
        copy.name = layer.name
    else:
        copy = type(layer).from_config(layer.get_config())
    if not layer.trainable:
        copy.trainable = False  # True would be for all layers that it holds
    return copy
