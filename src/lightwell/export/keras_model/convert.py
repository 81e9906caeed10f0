"""From a built prediction program to a Keras 3 model.

Takes a `Program` whose inputs are placeholders and whose layers' outputs are marked (`marks.py`), and a function that
reads values from a session of it. Layers become layers of Keras, the ops between them `keras.ops`; what Keras has
neither for runs as what it is (`own_layers.py`), or is refused (`refusal.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.errors import UsageError
from lightwell.export.keras_model.calls import Calls, Unlike
from lightwell.export.keras_model.names import Names
from lightwell.export.keras_model.ops import Ops
from lightwell.export.keras_model.refusal import check_route
from lightwell.export.keras_model.route import Route, outputs_of, route_of
from lightwell.export.keras_model.weights import Weights
from lightwell.log import logger

Read = Callable[[Any], Any]
"""Gives the values of a structure of tensors and variables, as a session of the program holds them."""


@dataclass(frozen=True, eq=False)
class Source:
    """What a Keras model is made from.

    Attributes:
        program: a prediction program.
        feeds: its features: placeholders, in the structure of the model's input.
        tables: its lookup tables (`tables.py`).
        read: reads values.
    """

    program: Program
    feeds: Any
    tables: Mapping[str, Any]
    read: Read


def check_keras() -> None:
    """Refuses a process in which no Keras model can be made.

    Raises:
        UsageError: Keras computes with something else than TensorFlow, or eager execution is off.
    """
    if keras.config.backend() != "tensorflow":
        raise UsageError(
            f"to_keras: Keras must compute with TensorFlow, but its backend is {keras.config.backend()!r}. Set "
            "KERAS_BACKEND=tensorflow before Keras is imported."
        )
    with tf.init_scope():
        if not tf.executing_eagerly():
            raise UsageError(
                "to_keras: Keras 3 needs eager execution, which this program has switched off "
                "(tf.compat.v1.disable_eager_execution, disable_v2_behavior). Convert the model in another program: "
                "make the Estimator there, with the same model_fn and model_dir."
            )


def keras_model(source: Source, name: str) -> Any:
    """A Keras model that computes the program's predictions from its features.

    Args:
        source: the program, and what is read from a session of it.
        name: the model's name.

    Raises:
        NoKerasModel: ops stand in the way.
        UsageError: the features have no form in Keras.
    """
    unlike: dict[str, str] = {}
    while True:  # a layer that turns out to be another in Keras is looked through in the next round
        try:
            model = _Conversion(source, unlike).model(name)
        except Unlike as found:
            unlike[found.call.name] = found.reason
        else:
            break
    for layer, reason in unlike.items():
        logger.info("to_keras: layer %r is converted op by op, as %s.", layer, reason)
    return model


class _Conversion:
    """One round: all Keras tensors so far, by the tensor of the program that each stands for."""

    def __init__(self, source: Source, unlike: dict[str, str]) -> None:
        self._source = source
        self._unlike = unlike
        self._names = Names()
        self._weights = Weights()
        self._calls = Calls(self._names, self._weights, unlike)

    def model(self, name: str) -> Any:
        predictions = self._source.program.spec.predictions
        wanted = tf.nest.flatten(predictions)
        inputs = _inputs(self._source.feeds, self._names)
        feeds, symbols = tf.nest.flatten(self._source.feeds), tf.nest.flatten(inputs)
        route = route_of(self._source.program, wanted, feeds, self._calls.is_converted)
        check_route(route, self._unlike)
        values = {feed.name: symbol for feed, symbol in zip(feeds, symbols, strict=True)}
        ops = Ops(
            values,
            symbols[0],
            self._source.read,
            self._names,
            self._weights,
            variables=route.variables,
            tables=self._source.tables,
        )
        self._convert(route, ops)
        outputs = self._outputs(predictions, ops)
        self._weights.set_all(self._source.read)
        return keras.Model(inputs, outputs, name=self._names.unique(name))

    def _convert(self, route: Route, ops: Ops) -> None:
        done: set[int] = set()
        for op in route.steps:
            call = route.calls.get(op.name)
            if call is None and op.name not in route.fixed:
                ops.convert(op)
            elif call is not None and id(call) not in done:
                done.add(id(call))
                made = self._calls.converted(call, ops.symbolic)
                for tensor, symbol in zip(outputs_of(call), made, strict=True):
                    self._names.keep(symbol)
                    ops.values[tensor.name] = symbol

    def _outputs(self, predictions: Any, ops: Ops) -> Any:
        """Each output ends in an operation that has the name of its key."""
        if not isinstance(predictions, Mapping):
            return ops.symbolic(predictions)
        return {
            key: keras.layers.Identity(name=self._names.unique(key), dtype=_policy(tensor))(ops.symbolic(tensor))
            for key, tensor in predictions.items()
        }


def _policy(tensor: tf.Tensor) -> str | None:
    """The dtype for a layer that passes the tensor on: Keras casts floats that are of another."""
    return tensor.dtype.name if tensor.dtype.is_floating else None


def _inputs(feeds: Any, names: Names, name: str = "") -> Any:
    """A `keras.Input` for each placeholder, in the same structure, named by its key."""
    if isinstance(feeds, Mapping):
        return {key: _inputs(part, names, f"{name}/{key}" if name else str(key)) for key, part in feeds.items()}
    if feeds.shape.rank is None:
        raise UsageError(
            f"to_keras: feature {name or 'features'!r} must have a known number of axes, got one of unknown rank. Set "
            "it in input_fn: tf.ensure_shape(x, [None, ...])."
        )
    return keras.Input(tuple(feeds.shape.as_list()[1:]), dtype=feeds.dtype.name, name=names.unique(name or "features"))
