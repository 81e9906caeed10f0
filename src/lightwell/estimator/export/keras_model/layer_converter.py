"""Converts layer calls of a `model_fn` to calls of Keras layers.

`LayerConverter` creates one Keras layer for each layer of the program, and calls it with the same arguments, with Keras
tensors in place of the graph's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from lightwell.estimator.export.keras_model.keras_copies import copy_of
from lightwell.estimator.export.keras_model.lightwell_layers import keras_layer_for, settings_of
from lightwell.estimator.export.keras_model.route import outputs_of
from lightwell.estimator.export.keras_model.unique_names import UniqueNames
from lightwell.estimator.export.keras_model.weight_sources import WeightSources
from lightwell.model.interop.layer_calls import place_of_training
from lightwell.model.layers.base import Layer
from lightwell.model.layers.record import LayerCall
from lightwell.model.layers.settings import static_truth


class LayerMismatch(Exception):
    """A Keras layer does not behave like the layer of the program."""

    def __init__(self, call: LayerCall, reason: str) -> None:
        super().__init__(reason)
        self.call, self.reason = call, reason


class LayerConverter:
    """Creates and calls the Keras layers for the layers of a program.

    Args:
        names: the names of the Keras model.
        weights: records which variables each layer starts from.
        unlike: names of layers that are not converted, with the reason; further ones are added.
    """

    def __init__(self, names: UniqueNames, weights: WeightSources, unlike: dict[str, str]) -> None:
        self._names = names
        self._weights = weights
        self._unlike = unlike
        self._layers: dict[Any, Any] = {}
        self._named_ids: set[int] = set()
        self._alive: list[Any] = []  # keeps objects alive, so that their ids stay unique

    def is_converted(self, call: LayerCall) -> bool:
        """Whether the call becomes one of a Keras layer."""
        if call.arguments is None or call.name in self._unlike or _training(call) is None:
            return False
        if not all(_is_simple(leaf) for leaf in tf.nest.flatten((call.arguments, call.outputs))):
            return False
        return self._layer(call) is not None

    def converted(self, call: LayerCall, symbolic: Callable[[tf.Tensor], Any]) -> list[Any]:
        """The Keras tensors for the call's outputs.

        Raises:
            LayerMismatch: the Keras layer cannot be called so, or has other weights or outputs.
        """
        layer = self._named_layer(call)
        arguments = call.arguments
        args, kwargs = tf.nest.map_structure(lambda leaf: symbolic(leaf) if tf.is_tensor(leaf) else leaf, arguments)
        args, kwargs = _with_training(call, list(args), dict(kwargs))
        try:
            outputs = layer(*args, **kwargs)
        except Exception as error:
            raise LayerMismatch(call, f"calling the copy raised {_error_text(error)}") from error
        if not self._weights.fit(layer, call.variables):
            raise LayerMismatch(call, "the copy has other weights")
        self._weights.add(layer, call.variables)
        tensors = [leaf for leaf in tf.nest.flatten(outputs) if isinstance(leaf, keras.KerasTensor)]
        if not _are_alike(tensors, outputs_of(call)):
            raise LayerMismatch(call, "the copy gives other shapes or types")
        return tensors

    def _layer(self, call: LayerCall) -> Any:
        """The Keras layer for a call's layer, created at its first call; None if there is none."""
        key = self._key(call)
        if key not in self._layers:
            self._alive.append(call.layer)
            self._layers[key] = self._create(call)
        return self._layers[key]

    def _named_layer(self, call: LayerCall) -> Any:
        """The Keras layer for a call's layer; it gets its name at the first call, so that numbers follow the model."""
        layer = self._layer(call)
        if id(layer) not in self._named_ids:
            self._named_ids.add(id(layer))
            layer.name = self._names.unique(call.name)
        return layer

    def _key(self, call: LayerCall) -> Any:
        """The key of a Keras layer; functional layers share one if they share variables."""
        if isinstance(call.layer, Layer) and call.variables:
            return settings_of(call.layer), tuple(variable.op.name for variable in call.variables)
        return id(call.layer)

    def _create(self, call: LayerCall) -> Any:
        if isinstance(call.layer, Layer):
            return keras_layer_for(call)
        if isinstance(call.layer, keras.layers.Layer) and not _is_ours(call.layer):
            try:
                return copy_of(call.layer)
            except Exception as error:
                self._unlike[call.name] = f"making it from its get_config() raised {_error_text(error)}"
        return None


def _training(call: LayerCall) -> bool | None:
    """The argument `training` of a call; None if a tensor decides in each step."""
    args, kwargs = call.arguments or ((), {})
    place = place_of_training(call.layer)
    training = kwargs.get("training", args[place] if place is not None and place < len(args) else None)
    return static_truth(training, "training", call.name)


def _with_training(call: LayerCall, args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments without `training`, which `fit` and `predict` set; a layer that trains even in `predict` gets
    True."""
    place = place_of_training(call.layer)
    if place is not None and place < len(args):
        args = [*args[:place], None, *args[place + 1 :]]
        args = args if len(args) > place + 1 else args[:place]
    kwargs = {name: value for name, value in kwargs.items() if name != "training"}
    return args, {**kwargs, "training": True} if _training(call) else kwargs


def _is_simple(leaf: Any) -> bool:
    """Whether a part of a call's arguments or outputs is a tensor of the graph, or no tensor at all."""
    if isinstance(leaf, tf.Tensor):
        return hasattr(leaf, "graph")
    return not isinstance(leaf, tf.SparseTensor | tf.RaggedTensor | tf.IndexedSlices | tf.Variable)


def _are_alike(outputs: list[Any], originals: list[tf.Tensor]) -> bool:
    return len(outputs) == len(originals) and all(
        output.dtype == original.dtype.base_dtype.name
        and tf.TensorShape(output.shape).is_compatible_with(original.shape)
        for output, original in zip(outputs, originals, strict=True)
    )


def _is_ours(layer: Any) -> bool:
    """Whether it is Lightwell's subclass of a Keras layer, for feature columns, which Keras cannot convert."""
    return type(layer).__module__.partition(".")[0] == "lightwell"


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
