"""The variables of the program that each layer of the Keras model starts from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lightwell.base.log import logger


class WeightSources:
    """Layers with the variables that their weights are set from."""

    def __init__(self) -> None:
        self._layers: dict[int, tuple[Any, Sequence[Any]]] = {}
        self._values: list[tuple[Any, Any]] = []

    def fit(self, layer: Any, variables: Sequence[Any]) -> bool:
        """Whether a layer that is built has a weight for each of the variables, of the same shape."""
        return [tuple(weight.shape) for weight in layer.weights] == [tuple(v.shape) for v in variables]

    def add(self, layer: Any, variables: Sequence[Any]) -> None:
        """The layer's weights take the values of the variables, once all are known."""
        self._layers[id(layer)] = (layer, variables)

    def add_value(self, layer: Any, value: Any) -> None:
        """The layer's one weight is a constant."""
        self._values.append((layer, value))

    def set_all(self, read: Callable[[Any], Any]) -> None:
        """Reads the values and sets them."""
        values = read([list(variables) for _, variables in self._layers.values()])
        for (layer, _), of_layer in zip(self._layers.values(), values, strict=True):
            layer.set_weights(of_layer)
        for layer, value in self._values:
            layer.set_weights([value])
        self._warn_of_copies()

    def _warn_of_copies(self) -> None:
        holders: dict[str, list[str]] = {}
        for layer, variables in self._layers.values():
            for variable in variables:
                holders.setdefault(variable.op.name, []).append(layer.name)
        for name, layers in holders.items():
            if len(layers) > 1:
                logger.warning(
                    "to_keras: %r is one variable in the Estimator; in the Keras model %s each have it as a weight of "
                    "their own. They start equal; training the Keras model would train them apart.",
                    name,
                    " and ".join(map(repr, layers)),
                )
