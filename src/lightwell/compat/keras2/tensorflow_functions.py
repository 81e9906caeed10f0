"""TensorFlow functions on the symbolic tensors of a functional model: `tf.concat([a, b], 1)` between layers.

Keras 2 made a layer of such a call. Keras 3 refuses; here the call becomes a `TensorFlowFunction` layer, named after
the function. TensorFlow asks only about calls whose arguments it has refused, so no other call is touched.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_keras, private_keras2

_PLACE = "keras_tensor:"
"""How the arguments of a layer mark the places of its inputs: this, and the number of the input."""


def answer_keras_tensors() -> Callable[[], None] | None:
    """Answer such calls from now on; returns a function that stops it, or None where TensorFlow cannot do it."""
    return private_keras2.start_answering(_answer)


def _answer(function: Any, args: Any, kwargs: Any) -> Any:
    keras = private_keras.keras3()
    if keras is None:
        return private_keras2.not_answered()
    named = {name: value for name, value in kwargs.items() if name != "name"}
    flat = tf.nest.flatten((args, named))
    inputs = [value for value in flat if isinstance(value, keras.KerasTensor)]
    if not inputs:
        return private_keras2.not_answered()
    numbers = iter(range(len(inputs)))
    marked = [f"{_PLACE}{next(numbers)}" if isinstance(value, keras.KerasTensor) else value for value in flat]
    positional, named = tf.nest.pack_sequence_as((args, named), marked)
    name = kwargs.get("name") or getattr(function, "__name__", "function")
    return layer_class(keras)(function, list(positional), named, name=_unique(keras, name))(inputs)


@functools.cache
def layer_class(keras: Any) -> Any:
    """The class of the layers that such calls become, for one Keras."""

    class TensorFlowFunction(keras.layers.Layer):
        """A call of one TensorFlow function. Its inputs are the Keras tensors among the arguments of the call."""

        def __init__(self, function: Any, positional: Any = (), named: Any = None, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.function = _found(function) if isinstance(function, str) else function
            # In a function: Keras would track lists and dicts, and the variables in them.
            self._arguments: Any = lambda: (positional, named or {})
            self.supports_masking = True

        def call(self, inputs: Any) -> Any:
            """Call the function with real tensors in the places of the inputs."""
            tensors = inputs if isinstance(inputs, list | tuple) else [inputs]

            def at(value: Any) -> Any:
                is_place = isinstance(value, str) and value.startswith(_PLACE)
                return tensors[int(value.removeprefix(_PLACE))] if is_place else value

            positional, named = tf.nest.map_structure(at, self._arguments())
            return self.function(*positional, **named)

        def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
            """The result has no mask, as in Keras 2."""
            return None

        def get_config(self) -> dict[str, Any]:
            """The function by its name, and the arguments that are no Keras tensors."""
            positional, named = self._arguments()
            name = f"{self.function.__module__}:{self.function.__qualname__}"
            return {**super().get_config(), "function": name, "positional": list(positional), "named": named}

    keras.saving.register_keras_serializable("lightwell")(TensorFlowFunction)
    return TensorFlowFunction


def _unique(keras: Any, name: str) -> str:
    name = f"tf_{name.replace('/', '_')}"
    number = keras.backend.get_uid(name)
    return name if number == 1 else f"{name}_{number - 1}"


def _found(path: str) -> Any:
    module, _, name = path.partition(":")
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))
