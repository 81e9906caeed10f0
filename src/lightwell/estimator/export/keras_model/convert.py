"""From a built prediction program to a Keras 3 model.

Takes a `Program` whose inputs are placeholders and whose layers' outputs are marked (`marks.py`), and a function that
reads values from a session of it. Layers become Keras layers, the ops between them `keras.ops`; other ops run in a
`TensorFlowOp` (`custom_layers.py`), or are refused (`refusal.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf

from lightwell.base.log import logger
from lightwell.errors import UsageError
from lightwell.estimator.export.keras_model.layer_converter import LayerConverter, LayerMismatch
from lightwell.estimator.export.keras_model.op_converter import OpConverter
from lightwell.estimator.export.keras_model.refusal import check_route
from lightwell.estimator.export.keras_model.route import Route, outputs_of, route_of
from lightwell.estimator.export.keras_model.unique_names import UniqueNames
from lightwell.estimator.export.keras_model.weight_sources import WeightSources
from lightwell.run.engine.program import Program

Read = Callable[[Any], Any]
"""Reads the values of a structure of tensors and variables from a session of the program."""


@dataclass(frozen=True, eq=False)
class KerasSource:
    """The program to convert.

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
    """Refuses a process in which Keras models cannot be built.

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


def keras_model(source: KerasSource, name: str) -> Any:
    """A Keras model that computes the program's predictions from its features.

    Args:
        source: the program to convert.
        name: the model's name.

    Raises:
        NoKerasModel: some ops cannot be converted.
        UsageError: Keras has no input for the features.
    """
    unlike: dict[str, str] = {}
    while True:  # a layer that behaves otherwise in Keras is converted op by op in the next round
        try:
            model = _Conversion(source, unlike).model(name)
        except LayerMismatch as mismatch:
            unlike[mismatch.call.name] = mismatch.reason
        else:
            break
    for layer, reason in unlike.items():
        logger.info("to_keras: layer %r is converted op by op, as %s.", layer, reason)
    return model


class _Conversion:
    """One attempt at the conversion."""

    def __init__(self, source: KerasSource, unlike: dict[str, str]) -> None:
        self._source = source
        self._unlike = unlike
        self._names = UniqueNames()
        self._weights = WeightSources()
        self._layers = LayerConverter(self._names, self._weights, unlike)

    def model(self, name: str) -> Any:
        predictions = self._source.program.spec.predictions
        targets = tf.nest.flatten(predictions)
        inputs = _inputs(self._source.feeds, self._names)
        feeds, symbols = tf.nest.flatten(self._source.feeds), tf.nest.flatten(inputs)
        route = route_of(self._source.program, targets, feeds, self._layers.is_converted)
        check_route(route, self._unlike)
        values = {feed.name: symbol for feed, symbol in zip(feeds, symbols, strict=True)}
        ops = OpConverter(
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

    def _convert(self, route: Route, ops: OpConverter) -> None:
        done: set[int] = set()
        for op in route.steps:
            call = route.calls.get(op.name)
            if call is None and op.name not in route.fixed:
                ops.convert(op)
            elif call is not None and id(call) not in done:
                done.add(id(call))
                symbols = self._layers.converted(call, ops.symbolic)
                for tensor, symbol in zip(outputs_of(call), symbols, strict=True):
                    self._names.keep(symbol)
                    ops.values[tensor.name] = symbol

    def _outputs(self, predictions: Any, ops: OpConverter) -> Any:
        """Each output ends in an operation that has the name of its key."""
        if not isinstance(predictions, Mapping):
            return ops.symbolic(predictions)
        return {
            key: keras.layers.Identity(name=self._names.unique(key), dtype=_policy(tensor))(ops.symbolic(tensor))
            for key, tensor in predictions.items()
        }


def _policy(tensor: tf.Tensor) -> str | None:
    """The dtype of a layer that passes the tensor on: Keras would cast floats of another dtype."""
    return tensor.dtype.name if tensor.dtype.is_floating else None


def _inputs(feeds: Any, names: UniqueNames, name: str = "") -> Any:
    """A `keras.Input` for each placeholder, in the same structure, named by its key."""
    if isinstance(feeds, Mapping):
        return {key: _inputs(part, names, f"{name}/{key}" if name else str(key)) for key, part in feeds.items()}
    if feeds.shape.rank is None:
        raise UsageError(
            f"to_keras: feature {name or 'features'!r} must have a known number of axes, got one of unknown rank. Set "
            "it in input_fn: tf.ensure_shape(x, [None, ...])."
        )
    return keras.Input(tuple(feeds.shape.as_list()[1:]), dtype=feeds.dtype.name, name=names.unique(name or "features"))
