"""Keras layers that Keras lacks: a value without an input, a lookup table, a TensorFlow op.

They are saved and loaded with the model. To load such a model elsewhere, register them:
`keras.saving.load_model(path, custom_objects=lightwell.keras_objects)`; a model without them needs nothing but Keras.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf


@keras.saving.register_keras_serializable("lightwell")
class Value(keras.layers.Layer):
    """A variable that belongs to no layer, or a constant; independent of its input.

    Args:
        shape: its shape.
        value_dtype: its dtype.
    """

    def __init__(self, shape: Sequence[int], value_dtype: str, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)
        self.value_shape = tuple(shape)
        self.value_dtype = value_dtype

    def build(self, input_shape: Any = None) -> None:
        self.value = self.add_weight(
            name="value", shape=self.value_shape, dtype=self.value_dtype, initializer="zeros", trainable=self.trainable
        )

    def call(self, inputs: Any) -> Any:
        return tf.convert_to_tensor(self.value)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "shape": list(self.value_shape), "value_dtype": self.value_dtype}


@keras.saving.register_keras_serializable("lightwell")
class Lookup(keras.layers.Layer):
    """A table from keys to values, called on keys.

    Args:
        keys, values: constants (`as_constant`) of one axis.
        default: a constant without axes, the value of all other keys.
    """

    def __init__(
        self, keys: Mapping[str, Any], values: Mapping[str, Any], default: Mapping[str, Any], **kwargs: Any
    ) -> None:
        super().__init__(autocast=False, trainable=False, **kwargs)
        self.keys, self.values, self.default = dict(keys), dict(values), dict(default)
        self.supports_jit = False
        with tf.init_scope():
            entries = tf.lookup.KeyValueTensorInitializer(from_constant(keys), from_constant(values))
            self.table = tf.lookup.StaticHashTable(entries, from_constant(default))

    def call(self, inputs: Any) -> Any:
        return self.table.lookup(inputs)

    def get_config(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("keys", "values", "default")}
        return {name: value for name, value in super().get_config().items() if name != "trainable"} | own


@keras.saving.register_keras_serializable("lightwell")
class TensorFlowOp(keras.layers.Layer):
    """A TensorFlow op, called on its input tensors.

    Args:
        op_type: its type, a name in `tf.raw_ops`.
        arguments: argument name to what stands for it: an attribute, or for an input its place among the tensors it is
            called on or among `constants`: `{"input": 0}`, `{"constant": 1}`, `{"inputs": [{"input": 0}, ...]}`.
        constants: inputs that are always the same: `{"value": a flat list, "dtype": name, "shape": sizes}`.
        output_shapes: what is known of the outputs' shapes; None for one that is not known at all.
    """

    def __init__(
        self,
        op_type: str,
        arguments: Mapping[str, Any],
        constants: Sequence[Mapping[str, Any]],
        output_shapes: Sequence[Any],
        **kwargs: Any,
    ) -> None:
        super().__init__(autocast=False, **kwargs)
        self.op_type = op_type
        self.arguments = dict(arguments)
        self.constants = [dict(constant) for constant in constants]
        self.output_shapes = [None if shape is None else list(shape) for shape in output_shapes]
        self.supports_jit = False  # the compiler does not know all of TensorFlow's ops

    def call(self, inputs: Any) -> Any:
        arguments = {name: self._argument(argument, inputs) for name, argument in self.arguments.items()}
        result = getattr(tf.raw_ops, self.op_type)(**arguments)
        outputs = list(result) if isinstance(result, list | tuple) else [result]
        for output, shape in zip(outputs, self.output_shapes, strict=True):
            output.set_shape(tf.TensorShape(shape))
        return outputs if len(outputs) > 1 else outputs[0]

    def get_config(self) -> dict[str, Any]:
        own = ("op_type", "arguments", "constants", "output_shapes")
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}

    def _argument(self, argument: Any, inputs: Sequence[Any]) -> Any:
        if isinstance(argument, Mapping) and "inputs" in argument:
            return [self._argument(part, inputs) for part in argument["inputs"]]
        if isinstance(argument, Mapping) and "input" in argument:
            return inputs[argument["input"]]
        if isinstance(argument, Mapping) and "constant" in argument:
            return from_constant(self.constants[argument["constant"]])
        return decoded(argument)


KERAS_OBJECTS = {f"lightwell>{kind.__name__}": kind for kind in (Value, Lookup, TensorFlowOp)}


def argument_names(op: tf.Operation) -> dict[str, str] | None:
    """For each input and attribute of an op, the name it has in `tf.raw_ops`; None if the op is not there.

    Some have another name there than in the graph. Attributes that follow from the inputs have none.
    """
    function = getattr(tf.raw_ops, op.type, None)
    if function is None:
        return None
    takes = [name for name in inspect.signature(function).parameters if name != "name"]
    inputs = op.op_def.input_arg
    implied = {name for one in inputs for name in (one.type_attr, one.number_attr, one.type_list_attr)}
    has = [*(one.name for one in inputs), *(one.name for one in op.op_def.attr if one.name not in implied)]
    renamed = zip((name for name in has if name not in takes), (name for name in takes if name not in has), strict=True)
    return {name: name for name in has if name in takes} | dict(renamed)


def as_constant(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """An array in a form that a layer's settings can hold."""
    dtype = tf.as_dtype(array.dtype).name if array.dtype != object else "string"
    flat = [item.decode("latin-1") if isinstance(item, bytes) else item for item in array.ravel().tolist()]
    return {"value": flat, "dtype": dtype, "shape": list(array.shape)}


def from_constant(constant: Mapping[str, Any]) -> Any:
    """The tensor of an `as_constant`."""
    flat = [item.encode("latin-1") if isinstance(item, str) else item for item in constant["value"]]
    return tf.constant(flat, constant["dtype"], constant["shape"])


def encoded(value: Any) -> Any:
    """An op's attribute in a form that a layer's settings can hold.

    Raises:
        TypeError: it has none (a function).
    """
    if isinstance(value, tf.DType):
        return {"dtype": value.name}
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [encoded(part) for part in value]
    if hasattr(value, "unknown_rank"):  # a TensorShapeProto
        shape = tf.TensorShape(value)
        return {"shape": None if shape.rank is None else shape.as_list()}
    raise TypeError(f"no form for {value!r}")


def decoded(value: Any) -> Any:
    """The inverse of `encoded`."""
    if isinstance(value, Mapping):
        return tf.as_dtype(value["dtype"]) if "dtype" in value else tf.TensorShape(value["shape"])
    return [decoded(part) for part in value] if isinstance(value, list | tuple) else value
