"""Layer calls of a `model_fn` as calls of Keras layers.

Owns `Calls`: the Keras layer that stands for each layer of the program, one for one, and how it is called: with the
arguments that the layer was called with, Keras tensors in place of the graph's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from lightwell.export.keras_model.keras_copies import copy_of
from lightwell.export.keras_model.lightwell_layers import keras_layer_for, settings_of
from lightwell.export.keras_model.names import Names
from lightwell.export.keras_model.route import outputs_of
from lightwell.export.keras_model.weights import Weights
from lightwell.interop.layer_calls import place_of_training
from lightwell.layers.base import Layer
from lightwell.layers.record import LayerCall
from lightwell.layers.settings import static_truth


class Unlike(Exception):
    """A layer of Keras does not do what the layer of the program did."""

    def __init__(self, call: LayerCall, reason: str) -> None:
        super().__init__(reason)
        self.call, self.reason = call, reason


class Calls:
    """The layers of a Keras model that stand for layers of the program.

    Args:
        names: where their names are taken from.
        weights: told which variables they start from.
        unlike: layers, by name, that are not converted, with the reason; what is found to be so is added.
    """

    def __init__(self, names: Names, weights: Weights, unlike: dict[str, str]) -> None:
        self._names = names
        self._weights = weights
        self._unlike = unlike
        self._layers: dict[Any, Any] = {}
        self._with_names: set[int] = set()
        self._kept: list[Any] = []  # so that an id stays an object's own

    def is_converted(self, call: LayerCall) -> bool:
        """Whether the call becomes one of a Keras layer."""
        if call.given is None or call.name in self._unlike or _training(call) is None:
            return False
        if not all(_is_simple(leaf) for leaf in tf.nest.flatten((call.given, call.outputs))):
            return False
        return self._layer(call) is not None

    def converted(self, call: LayerCall, symbolic: Callable[[tf.Tensor], Any]) -> list[Any]:
        """The Keras tensors that stand for the call's outputs.

        Raises:
            Unlike: Keras' layer cannot be called so, or is another than it was.
        """
        layer = self._named(call)
        given = call.given
        args, kwargs = tf.nest.map_structure(lambda leaf: symbolic(leaf) if tf.is_tensor(leaf) else leaf, given)
        args, kwargs = _with_training(call, list(args), dict(kwargs))
        try:
            outputs = layer(*args, **kwargs)
        except Exception as error:
            raise Unlike(call, f"calling the copy raised {_told(error)}") from error
        if not self._weights.fit(layer, call.variables):
            raise Unlike(call, "the copy has other weights")
        self._weights.add(layer, call.variables)
        tensors = [leaf for leaf in tf.nest.flatten(outputs) if isinstance(leaf, keras.KerasTensor)]
        if not _are_alike(tensors, outputs_of(call)):
            raise Unlike(call, "the copy gives other shapes or types")
        return tensors

    def _layer(self, call: LayerCall) -> Any:
        """The Keras layer for a call's layer, made at its first call; None if there is none."""
        key = self._key(call)
        if key not in self._layers:
            self._kept.append(call.layer)
            self._layers[key] = self._made(call)
        return self._layers[key]

    def _named(self, call: LayerCall) -> Any:
        """The Keras layer for a call's layer; it gets its name at the first call, so that numbers follow the model."""
        layer = self._layer(call)
        if id(layer) not in self._with_names:
            self._with_names.add(id(layer))
            layer.name = self._names.unique(call.name)
        return layer

    def _key(self, call: LayerCall) -> Any:
        """What two calls have in common that become calls of one layer: functional layers share variables by name."""
        if isinstance(call.layer, Layer) and call.variables:
            return settings_of(call.layer), tuple(variable.op.name for variable in call.variables)
        return id(call.layer)

    def _made(self, call: LayerCall) -> Any:
        if isinstance(call.layer, Layer):
            return keras_layer_for(call)
        if isinstance(call.layer, keras.layers.Layer) and not _is_ours(call.layer):
            try:
                return copy_of(call.layer)
            except Exception as error:
                self._unlike[call.name] = f"making it from its get_config() raised {_told(error)}"
        return None


def _training(call: LayerCall) -> bool | None:
    """What a layer was told of `training`; None where a run decides."""
    args, kwargs = call.given or ((), {})
    place = place_of_training(call.layer)
    told = kwargs.get("training", args[place] if place is not None and place < len(args) else None)
    return static_truth(told, "training", call.name)


def _with_training(call: LayerCall, args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments, `training` left out: Keras says it in `fit` and in `predict`. A layer that trains even in
    `predict` is told to."""
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


def _are_alike(made: list[Any], before: list[tf.Tensor]) -> bool:
    return len(made) == len(before) and all(
        tensor.dtype == old.dtype.base_dtype.name and tf.TensorShape(tensor.shape).is_compatible_with(old.shape)
        for tensor, old in zip(made, before, strict=True)
    )


def _is_ours(layer: Any) -> bool:
    """Whether it is a layer of Lightwell's that is one of Keras, too: feature columns, which Keras has no layer for."""
    return type(layer).__module__.partition(".")[0] == "lightwell"


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
