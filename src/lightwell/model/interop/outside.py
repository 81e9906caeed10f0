"""Eager tensors and tables of layers that were created outside of `model_fn`.

Eager tensors of a layer (the mean of an adapted `Normalization`) become constants of the graph. A fixed lookup table
(`StringLookup`) is copied into the graph. Any other eager object raises an error with advice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import ModelFnError
from lightwell.model.interop.initial_values import fixed, outside_the_graph
from lightwell.model.interop.trace import KerasTrace


def lend_constants(trace: KerasTrace, owners: Iterable[Any]) -> None:
    """Replaces eager tensors of objects (the factor of a regulariser) by constants, until the trace ends."""
    for owner in owners:
        for name, value in list(vars(owner).items()) if hasattr(owner, "__dict__") else ():
            if _is_eager(value):
                with tf.init_scope():
                    vars(owner)[name] = fixed(np.asarray(value.numpy()), value.dtype)
                trace.lent.append((owner, name, value))


def take_back(trace: KerasTrace) -> None:
    """Restores the eager tensors of the objects."""
    while trace.lent:
        owner, name, value = trace.lent.pop()
        vars(owner)[name] = value


@contextlib.contextmanager
def eager_tensors_as_constants(layer: Any) -> Iterator[None]:
    """Replaces the eager tensors and tables among a layer's attributes by those of the default graph inside the
    block."""
    # A TextVectorization uses the table of a sublayer without calling the sublayer.
    owners = [layer, *(value for value in vars(layer).values() if _has_table(value))]
    eager = [
        (vars(owner), name, value) for owner in owners for name, value in vars(owner).items() if _is_outside(value)
    ]
    for attributes, name, value in eager:
        attributes[name] = fixed(np.asarray(value.numpy()), value.dtype) if _is_eager(value) else _table_in_graph(value)
    try:
        yield
    finally:
        for attributes, name, value in eager:
            attributes[name] = value


def raise_if_eager(error: Exception, layer: Any) -> None:
    """Raises with advice if TensorFlow rejected an eager object in the graph.

    Raises:
        ModelFnError: it did.
    """
    if any(words in str(error) for words in ("EagerTensor", "Eager-defined Tensor")) and not isinstance(
        error, ModelFnError
    ):
        raise ModelFnError(
            f"model_fn called the {type(layer).__name__} layer {layer.name!r}, which holds a tensor, a variable or a "
            "table that can be written, made outside of model_fn, and that cannot enter its graph. Create the layer "
            "inside model_fn, or let it hold arrays, keras.Variable and tf.lookup.StaticHashTable."
        ) from error


def _is_eager(value: Any) -> bool:
    return isinstance(value, tf.Tensor) and hasattr(value, "numpy") and value.dtype not in (tf.resource, tf.variant)


def _is_outside(value: Any) -> bool:
    return _is_eager(value) or _is_eager_table(value)


def _has_table(value: Any) -> bool:
    attributes = vars(value) if hasattr(value, "__dict__") and not isinstance(value, type) else {}
    return any(_is_eager_table(attribute) for attribute in attributes.values())


def _is_eager_table(value: Any) -> bool:
    return isinstance(value, tf.lookup.StaticHashTable) and hasattr(value.resource_handle, "numpy")


def _table_in_graph(table: Any) -> Any:
    """A table of the default graph with the same rows."""
    keys, values = (part.numpy() for part in outside_the_graph(table.export))
    with tf.init_scope():
        rows = tf.lookup.KeyValueTensorInitializer(keys, values, table.key_dtype, table.value_dtype)
        return tf.lookup.StaticHashTable(rows, table.default_value.numpy())
