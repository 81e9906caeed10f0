"""`tf.compat.v1.feature_column.input_layer`, past the book of layers.

Owns the function under TensorFlow's signature. TensorFlow's own does the work; ours adds the book of layers, the slots
(`output.layer.columns`) and the hint about raw categorical columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from lightwell.model.feature_columns.book import ColumnsAtBook, distinct, with_shared
from lightwell.model.feature_columns.hints import explained, without_warnings
from lightwell.model.feature_columns.slots import ColumnsLayer, slots_of
from lightwell.model.layers.attach import attach_layer

tensorflows_input_layer = tf.compat.v1.feature_column.input_layer


class ScopedOutputs(dict[Any, Any]):
    """Column -> output, filled by TensorFlow while it stands in the column's variable scope, whose name is noted."""

    def __init__(self) -> None:
        super().__init__()
        self.scope = ""

    def __setitem__(self, column: Any, tensor: Any) -> None:
        self.scope = tf.compat.v1.get_variable_scope().name.rpartition("/")[0]
        super().__setitem__(column, tensor)


def input_layer(
    features: Any,
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
) -> Any:
    """Turns features into one dense tensor, the columns side by side in the order of their names.

    Args:
        features: feature key -> tensor.
        feature_columns: dense columns.
        weight_collections: graph collections that new variables also go to.
        trainable: whether new variables go to `GraphKeys.TRAINABLE_VARIABLES`.
        cols_to_vars: filled with column -> its new variables.
        cols_to_output_tensors: filled with column -> its part of the output.

    Returns:
        A tensor `[batch, width]`. Its `.layer.columns` tells each column's slot.
    """
    columns = list(feature_columns) if isinstance(feature_columns, Iterator) else feature_columns
    outputs, variables, book = ScopedOutputs(), dict[Any, Any](), ColumnsAtBook(features, "InputLayer")
    with explained(columns), without_warnings():
        reading = book.reading(columns)
        result = tensorflows_input_layer(features, reading, weight_collections, trainable, variables, outputs)
    layer, shared = ColumnsLayer(outputs.scope, slots_of(outputs)), with_shared(variables)
    parts = book.pass_columns(layer.name, layer.columns, outputs, shared)
    for target, values in ((cols_to_vars, variables), (cols_to_output_tensors, parts)):
        if target is not None:
            target.update(values)
    joined, own = _joined(result, outputs, parts), distinct(v for used in shared.values() for v in used)
    result = book.pass_layer(joined, own, layer)
    attach_layer(result, features, layer, {})
    return result


def _joined(result: Any, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Any:
    """The columns side by side; TensorFlow has joined them already, but for those that were changed since."""
    same = all(after[column] is before[column] for column in after)
    return result if same else tf.concat(list(after.values()), axis=1)
