"""The ops between layers, one by one: as `keras.ops`, or as what they are.

Owns `Ops`: what stands in the Keras model for each tensor of the program so far, and the conversion of one more op. A
value that is the same for every input stays an array until something needs it as a Keras tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from lightwell.export.keras_model.names import Names
from lightwell.export.keras_model.op_table import row_of
from lightwell.export.keras_model.own_layers import Lookup, TensorFlowOp, Value, argument_names, as_constant, encoded
from lightwell.export.keras_model.route import VARIABLE_HANDLES, VARIABLE_VALUES
from lightwell.export.keras_model.tables import LOOKUPS, TABLES
from lightwell.export.keras_model.weights import Weights

_PASSED_ON = frozenset({"Identity", "Snapshot", "PreventGradient", "CheckNumerics"})
_ONLY_TENSORFLOWS = (tf.string, tf.complex64, tf.complex128)
_MOST_INLINE = 1024  # values of a constant that stand in a model's settings; more are kept with its weights


class Ops:
    """Converts ops in the order in which they were made.

    Args:
        values: tensor name to Keras tensor, for the features; what is converted is added.
        anchor: an input of the model: what comes from no input hangs on it.
        read: reads values from a session.
        names, weights: of the model.
        variables: the name of the op that stands for a variable, to the variable.
        tables: the name of the op that stands for a table, to tensors with its keys and values.
    """

    def __init__(
        self,
        values: dict[str, Any],
        anchor: Any,
        read: Callable[[Any], Any],
        names: Names,
        weights: Weights,
        variables: Mapping[str, Any],
        tables: Mapping[str, Any],
    ) -> None:
        self.values = values
        self._anchor = anchor
        self._read = read
        self._names = names
        self._weights = weights
        self._variables = variables
        self._tables = tables
        self._held: dict[str, Any] = {}
        for value in values.values():
            names.keep(value)

    def symbolic(self, tensor: tf.Tensor) -> Any:
        """The Keras tensor for a tensor of the program; a constant becomes one."""
        value = self._value(tensor)
        if not isinstance(value, np.ndarray):
            return value
        if tensor.name not in self._held:
            self._held[tensor.name] = self._constant(tensor, value)
        return self._held[tensor.name]

    def convert(self, op: tf.Operation) -> None:
        """Adds the outputs of an op whose inputs are there."""
        if op.type in VARIABLE_HANDLES | TABLES:
            return
        if op.type in _PASSED_ON:
            made = [self._value(op.inputs[0])]
        elif op.type in VARIABLE_VALUES:
            made = [self._variable(op)]
        elif op.type == "ReadVariableOp":
            made = [self._variable(op.inputs[0].op)]
        elif op.type == "ResourceGather":
            made = self._rows(op)
        elif op.type in LOOKUPS:
            made = self._looked_up(op)
        else:
            made = self._by_table(op) or self._as_it_is(op, [self._value(tensor) for tensor in op.inputs])
        self.values.update({tensor.name: symbol for tensor, symbol in zip(op.outputs, made, strict=True)})

    def _value(self, tensor: tf.Tensor) -> Any:
        """A Keras tensor, or an array for what is the same for every input."""
        if tensor.name not in self.values:
            known = tf.get_static_value(tensor)
            self.values[tensor.name] = np.asarray(self._read(tensor) if known is None else known)
        return self.values[tensor.name]

    def _by_table(self, op: tf.Operation) -> list[Any]:
        """What `keras.ops` makes of it; nothing if it has no such op, or knows less of the result."""
        row = row_of(op.type)
        if row is None or any(t.dtype.base_dtype in _ONLY_TENSORFLOWS for t in [*op.inputs, *op.outputs]):
            return []
        try:
            result = row(op, *(self._value(tensor) for tensor in op.inputs))
        except (TypeError, ValueError):  # Keras has limits of its own, for example on types
            return []
        if result is NotImplemented:
            return []
        made = list(result) if isinstance(result, list | tuple) else [result]
        made = [_as_type(symbol, tensor) for symbol, tensor in zip(made, op.outputs, strict=True)]
        if not all(_is_as_well_known(symbol, tensor) for symbol, tensor in zip(made, op.outputs, strict=True)):
            return []
        for symbol in made:
            self._names.name_operations(symbol, op.name)
        return made

    def _as_it_is(self, op: tf.Operation, inputs: Sequence[Any]) -> list[Any]:
        constants: list[Any] = []
        tensors: list[Any] = []

        def placed(tensor: tf.Tensor, value: Any) -> dict[str, int]:
            if isinstance(value, np.ndarray) and (value.size <= _MOST_INLINE or tensor.dtype == tf.string):
                constants.append(as_constant(value))
                return {"constant": len(constants) - 1}
            tensors.append(self.symbolic(tensor))
            return {"input": len(tensors) - 1}

        places = [placed(tensor, value) for tensor, value in zip(op.inputs, inputs, strict=True)]
        arguments = _arguments(op, places)
        shapes = [None if t.shape.rank is None else t.shape.as_list() for t in op.outputs]
        layer = TensorFlowOp(op.type, arguments, constants, shapes, name=self._names.unique(op.name))
        result = layer(tensors)
        made = list(result) if isinstance(result, list | tuple) else [result]
        for symbol in made:
            self._names.keep(symbol)
        return made

    def _variable(self, op: tf.Operation) -> Any:
        """A variable that is no converted layer's."""
        if op.name not in self._held:
            variable = self._variables[op.name]
            layer = self._value_layer(op.name, variable.dtype.base_dtype.name, variable.shape, variable.trainable)
            self._held[op.name] = self._anchored(layer)
            self._weights.add(layer, [variable])
        return self._held[op.name]

    def _looked_up(self, op: tf.Operation) -> list[Any]:
        keys, values = self._read(self._tables[op.inputs[0].op.name])
        entries = (as_constant(array) for array in (keys, values, self._value(op.inputs[2])))
        made = Lookup(*entries, name=self._names.unique(op.name))(self.symbolic(op.inputs[1]))
        self._names.keep(made)
        return [made]

    def _rows(self, op: tf.Operation) -> list[Any]:
        """Rows of a variable, by their numbers."""
        name = op.inputs[0].op.name
        variable = self._variables[name]
        if variable.shape.rank != 2 or op.get_attr("batch_dims") or not variable.dtype.base_dtype.is_floating:
            table, indices = self._variable(op.inputs[0].op), self.symbolic(op.inputs[1])
            made = keras.ops.take(table, indices, axis=0)
            self._names.name_operations(made, op.name)
            return [made]
        if f"{name}/rows" not in self._held:
            rows, size = variable.shape.as_list()
            layer = keras.layers.Embedding(
                rows, size, dtype=variable.dtype.base_dtype.name, trainable=variable.trainable
            )
            layer.name = self._names.unique(name)
            self._held[f"{name}/rows"] = layer
        layer = self._held[f"{name}/rows"]
        made = layer(self.symbolic(op.inputs[1]))
        self._names.keep(made)
        self._weights.add(layer, [variable])
        return [made]

    def _constant(self, tensor: tf.Tensor, value: np.ndarray[Any, Any]) -> Any:
        if tensor.dtype == tf.string:  # Keras has no weights of strings
            arguments = {"input": {"constant": 0}}
            name = self._names.unique(tensor.op.name)
            layer = TensorFlowOp("Identity", arguments, [as_constant(value)], [value.shape], name=name)
            return self._anchored(layer)
        layer = self._value_layer(tensor.op.name, tensor.dtype.base_dtype.name, value.shape, trainable=False)
        symbol = self._anchored(layer)
        self._weights.add_value(layer, value)
        return symbol

    def _value_layer(self, name: str, dtype: str, shape: Any, trainable: bool) -> Any:
        return Value(list(shape), dtype, name=self._names.unique(name), trainable=trainable)

    def _anchored(self, layer: Any) -> Any:
        symbol = layer([self._anchor])
        self._names.keep(symbol)
        return symbol


def _as_type(symbol: Any, tensor: tf.Tensor) -> Any:
    dtype = tensor.dtype.base_dtype.name
    return symbol if symbol.dtype == dtype else keras.ops.cast(symbol, dtype)


def _is_as_well_known(symbol: Any, tensor: tf.Tensor) -> bool:
    if symbol.sparse or tensor.shape.rank is None or len(symbol.shape) != tensor.shape.rank:
        return False
    return all(known is None or size == known for size, known in zip(symbol.shape, tensor.shape.as_list(), strict=True))


def _arguments(op: tf.Operation, places: Sequence[Any]) -> dict[str, Any]:
    """What `tf.raw_ops` takes for an op: the places of its inputs, and its attributes."""
    names = argument_names(op) or {}
    waiting = list(places)
    arguments: dict[str, Any] = {}
    for one in op.op_def.input_arg:
        if one.number_attr or one.type_list_attr:
            many = op.get_attr(one.number_attr or one.type_list_attr)
            count = many if isinstance(many, int) else len(many)
            arguments[names[one.name]] = {"inputs": [waiting.pop(0) for _ in range(count)]}
        else:
            arguments[names[one.name]] = waiting.pop(0)
    attributes = (one.name for one in op.op_def.attr if one.name in names)
    return arguments | {names[name]: encoded(op.get_attr(name)) for name in attributes}
