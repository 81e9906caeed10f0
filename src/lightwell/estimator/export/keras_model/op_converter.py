"""Converts the ops between layers, one by one, to `keras.ops` or to a layer that runs the TensorFlow op.

`OpConverter` stores the Keras tensor for each tensor of the program. A value that does not depend on the input stays an
array until something needs it as a Keras tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from lightwell.estimator.export.keras_model.custom_layers import (
    Lookup,
    TensorFlowOp,
    Value,
    argument_names,
    as_constant,
    encoded,
)
from lightwell.estimator.export.keras_model.op_table import row_of
from lightwell.estimator.export.keras_model.route import VARIABLE_HANDLES, VARIABLE_VALUES
from lightwell.estimator.export.keras_model.tables import LOOKUPS, TABLES
from lightwell.estimator.export.keras_model.unique_names import UniqueNames
from lightwell.estimator.export.keras_model.weight_sources import WeightSources

_IDENTITIES = frozenset({"Identity", "Snapshot", "PreventGradient", "CheckNumerics"})
_TENSORFLOW_ONLY = (tf.string, tf.complex64, tf.complex128)
_MAX_INLINE = 1024  # constants up to this size are part of a layer's config; larger ones become weights


class OpConverter:
    """Converts ops in the order in which they were created.

    Args:
        values: tensor name to Keras tensor, for the features; converted tensors are added.
        anchor: an input of the model, which layers without inputs are called on.
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
        names: UniqueNames,
        weights: WeightSources,
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
        self._created: dict[str, Any] = {}
        for value in values.values():
            names.keep(value)

    def symbolic(self, tensor: tf.Tensor) -> Any:
        """The Keras tensor for a tensor of the program, also for a constant."""
        value = self._value(tensor)
        if not isinstance(value, np.ndarray):
            return value
        if tensor.name not in self._created:
            self._created[tensor.name] = self._constant(tensor, value)
        return self._created[tensor.name]

    def convert(self, op: tf.Operation) -> None:
        """Adds the outputs of an op whose inputs are converted."""
        if op.type in VARIABLE_HANDLES | TABLES:
            return
        if op.type in _IDENTITIES:
            outputs = [self._value(op.inputs[0])]
        elif op.type in VARIABLE_VALUES:
            outputs = [self._variable(op)]
        elif op.type == "ReadVariableOp":
            outputs = [self._variable(op.inputs[0].op)]
        elif op.type == "ResourceGather":
            outputs = self._rows(op)
        elif op.type in LOOKUPS:
            outputs = self._lookup(op)
        else:
            outputs = self._by_table(op) or self._as_tensorflow_op(op, [self._value(tensor) for tensor in op.inputs])
        self.values.update({tensor.name: symbol for tensor, symbol in zip(op.outputs, outputs, strict=True)})

    def _value(self, tensor: tf.Tensor) -> Any:
        """A Keras tensor, or an array if the value does not depend on the input."""
        if tensor.name not in self.values:
            known = tf.get_static_value(tensor)
            self.values[tensor.name] = np.asarray(self._read(tensor) if known is None else known)
        return self.values[tensor.name]

    def _by_table(self, op: tf.Operation) -> list[Any]:
        """The outputs through `keras.ops`; empty if it has no such op, or infers less of the output shapes."""
        row = row_of(op.type)
        if row is None or any(t.dtype.base_dtype in _TENSORFLOW_ONLY for t in [*op.inputs, *op.outputs]):
            return []
        try:
            result = row(op, *(self._value(tensor) for tensor in op.inputs))
        except (TypeError, ValueError):  # Keras has other limits, for example on types
            return []
        if result is NotImplemented:
            return []
        outputs = list(result) if isinstance(result, list | tuple) else [result]
        outputs = [_as_type(symbol, tensor) for symbol, tensor in zip(outputs, op.outputs, strict=True)]
        if not all(_has_known_shape(symbol, tensor) for symbol, tensor in zip(outputs, op.outputs, strict=True)):
            return []
        for symbol in outputs:
            self._names.name_operations(symbol, op.name)
        return outputs

    def _as_tensorflow_op(self, op: tf.Operation, inputs: Sequence[Any]) -> list[Any]:
        constants: list[Any] = []
        tensors: list[Any] = []

        def placed(tensor: tf.Tensor, value: Any) -> dict[str, int]:
            if isinstance(value, np.ndarray) and (value.size <= _MAX_INLINE or tensor.dtype == tf.string):
                constants.append(as_constant(value))
                return {"constant": len(constants) - 1}
            tensors.append(self.symbolic(tensor))
            return {"input": len(tensors) - 1}

        places = [placed(tensor, value) for tensor, value in zip(op.inputs, inputs, strict=True)]
        arguments = _arguments(op, places)
        shapes = [None if t.shape.rank is None else t.shape.as_list() for t in op.outputs]
        layer = TensorFlowOp(op.type, arguments, constants, shapes, name=self._names.unique(op.name))
        result = layer(tensors)
        outputs = list(result) if isinstance(result, list | tuple) else [result]
        for symbol in outputs:
            self._names.keep(symbol)
        return outputs

    def _variable(self, op: tf.Operation) -> Any:
        """A variable that belongs to no converted layer."""
        if op.name not in self._created:
            variable = self._variables[op.name]
            layer = self._value_layer(op.name, variable.dtype.base_dtype.name, variable.shape, variable.trainable)
            self._created[op.name] = self._anchored(layer)
            self._weights.add(layer, [variable])
        return self._created[op.name]

    def _lookup(self, op: tf.Operation) -> list[Any]:
        keys, values = self._read(self._tables[op.inputs[0].op.name])
        entries = (as_constant(array) for array in (keys, values, self._value(op.inputs[2])))
        symbol = Lookup(*entries, name=self._names.unique(op.name))(self.symbolic(op.inputs[1]))
        self._names.keep(symbol)
        return [symbol]

    def _rows(self, op: tf.Operation) -> list[Any]:
        """Rows of a variable, by their indices."""
        name = op.inputs[0].op.name
        variable = self._variables[name]
        if variable.shape.rank != 2 or op.get_attr("batch_dims") or not variable.dtype.base_dtype.is_floating:
            table, indices = self._variable(op.inputs[0].op), self.symbolic(op.inputs[1])
            outputs = keras.ops.take(table, indices, axis=0)
            self._names.name_operations(outputs, op.name)
            return [outputs]
        if f"{name}/rows" not in self._created:
            rows, size = variable.shape.as_list()
            layer = keras.layers.Embedding(
                rows, size, dtype=variable.dtype.base_dtype.name, trainable=variable.trainable
            )
            layer.name = self._names.unique(name)
            self._created[f"{name}/rows"] = layer
        layer = self._created[f"{name}/rows"]
        outputs = layer(self.symbolic(op.inputs[1]))
        self._names.keep(outputs)
        self._weights.add(layer, [variable])
        return [outputs]

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


def _has_known_shape(symbol: Any, tensor: tf.Tensor) -> bool:
    if symbol.sparse or tensor.shape.rank is None or len(symbol.shape) != tensor.shape.rank:
        return False
    return all(known is None or size == known for size, known in zip(symbol.shape, tensor.shape.as_list(), strict=True))


def _arguments(op: tf.Operation, places: Sequence[Any]) -> dict[str, Any]:
    """The arguments of an op for `tf.raw_ops`: the places of its inputs, and its attributes."""
    names = argument_names(op) or {}
    remaining = list(places)
    arguments: dict[str, Any] = {}
    for one in op.op_def.input_arg:
        if one.number_attr or one.type_list_attr:
            many = op.get_attr(one.number_attr or one.type_list_attr)
            count = many if isinstance(many, int) else len(many)
            arguments[names[one.name]] = {"inputs": [remaining.pop(0) for _ in range(count)]}
        else:
            arguments[names[one.name]] = remaining.pop(0)
    attributes = (one.name for one in op.op_def.attr if one.name in names)
    return arguments | {names[name]: encoded(op.get_attr(name)) for name in attributes}
