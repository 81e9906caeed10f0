"""What `DenseFeatures` and `SequenceFeatures` have in common: a Keras layer whose weights belong to feature columns.

Owns the life of such a layer. It is an ordinary Keras layer; in the graph of a `model_fn` its variables are named as
TensorFlow 2.15 named them (`dense_features/city_embedding/embedding_weights`), and its columns pass the book of layers
before it. Subclasses turn columns into tensors.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, ClassVar

import keras
import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.errors import UsageError
from lightwell.foreign import private_tf
from lightwell.foreign.private_keras import only_infers_shapes
from lightwell.model.feature_columns.book import ColumnsAtBook
from lightwell.model.feature_columns.checks import checked_columns
from lightwell.model.feature_columns.slots import ColumnSlot, slots_of, width_of
from lightwell.model.feature_columns.state import ColumnState, VariableSpec
from lightwell.model.feature_columns.weights import new_weight, partitioned, stand_for, view_of
from lightwell.model.interop.keras_scope import keras_in_model_fn
from lightwell.model.interop.trace import active_trace
from lightwell.model.layers.variables import pieces_of


class FeatureColumnsLayer(keras.layers.Layer):
    """A layer over feature columns.

    Args:
        feature_columns: a column, or an iterable of columns; they are sorted by name.
        trainable: whether the weights of the columns are trained.
        name: the layer's name.
        partitioner: splits the weights of the columns, as in `tf.compat.v1.get_variable`; only in a layer that a
            `model_fn` calls itself.
        **kwargs: as in `keras.layers.Layer`.
    """

    column_kind: ClassVar[str]
    """The class of columns that the layer takes."""
    leading_axes: ClassVar[int]
    """How many axes of the output stand before the columns': the batch, and steps."""

    def __init__(
        self,
        feature_columns: Any,
        trainable: bool = True,
        name: str | None = None,
        partitioner: Any = None,
        **kwargs: Any,
    ) -> None:
        where = f"{type(self).__name__} {name!r}" if name else type(self).__name__
        columns = checked_columns(where, feature_columns, getattr(private_tf.feature_columns(), self.column_kind))
        # Features are keys, words and numbers of any type: casting them is the columns' own affair.
        kwargs.setdefault("autocast", False)
        super().__init__(name=name, trainable=trainable, **kwargs)
        self.supports_jit = False  # tables and strings are on the host; Keras compiles by itself where a GPU is
        self._partitioner = partitioner
        self._columns = ColumnState(columns, self._make_variable)
        self._column_weights: dict[str, Any] = {}

    @property
    def feature_columns(self) -> tuple[Any, ...]:
        """The columns, in the order of the output."""
        return self._columns.columns

    @property
    def slots(self) -> tuple[ColumnSlot, ...]:
        """Where each column stands in the last axis of the output; known once the layer was called."""
        return slots_of(self._columns.tensors)

    def build(self, input_shape: Any = None) -> None:
        """Makes the weights of the columns."""
        for column in self.feature_columns:
            with keras.name_scope(column.name):
                column.create_state(self._columns)
        self._take_shared_tables()

    def call(self, features: Any, training: bool | None = None) -> Any:
        """Turns features into tensors."""
        self._columns.tensors.clear()
        trace = active_trace()
        book = ColumnsAtBook(features, name=None if trace is None else trace.names.path_of(self, None))
        return self._compute(book, private_tf.feature_columns().FeatureTransformationCache(features))

    def __call__(
        self, features: Any, cols_to_output_tensors: dict[Any, Any] | None = None, training: bool | None = None
    ) -> Any:
        """Builds the layer if need be and calls it.

        Args:
            features: feature key -> tensor.
            cols_to_output_tensors: filled with column -> its part of the output.
            training: accepted and not needed.
        """
        if not isinstance(features, Mapping):
            raise UsageError(
                f"{type(self).__name__} '{self.name}': We expected a dictionary here, feature key -> tensor. "
                f"Instead we got: {features}. Pass the features that input_fn gave, or {{'key': tensor}}."
            )
        with _in_a_trace():
            if active_trace() is not None and only_infers_shapes():
                outputs = self._blank(features)
            else:
                if self.built:
                    self._enter_graph()
                outputs = super().__call__(features)
        if cols_to_output_tensors is not None:
            cols_to_output_tensors.update(self._columns.tensors)
        return outputs

    def _compute(self, book: ColumnsAtBook, cache: Any) -> Any:
        """The outputs; leaves each column's own in `self._columns.tensors` and joins them with `_joined`."""
        raise NotImplementedError

    def _joined(self, book: ColumnsAtBook) -> tf.Tensor:
        """The columns side by side, each as it comes out of the book of layers."""
        trace = active_trace()
        if trace is not None:
            variables = {column: self._columns.variables_of(column) for column in self.feature_columns}
            tensors = self._columns.tensors
            tensors.update(book.pass_columns(trace.names.path_of(self, None), self.slots, tensors, variables))
        return tf.concat(list(self._columns.tensors.values()), axis=-1)

    def _blank(self, features: Mapping[str, Any]) -> Any:
        """What has the shapes of the outputs: Keras looks at a model around this layer before the real call.

        To compute then would put the tables of columns into a graph that is thrown away.
        """
        if not self.built:
            self.build(None)
        for column in self.feature_columns:
            shape = (*[None] * self.leading_axes, width_of(column))
            self._columns.tensors[column] = tf.compat.v1.placeholder(self.compute_dtype, shape)
        outputs = self.compute_output_spec(features)
        return tf.nest.map_structure(lambda spec: tf.compat.v1.placeholder(spec.dtype, spec.shape), outputs)

    def _make_variable(self, spec: VariableSpec) -> Any:
        trainable, trace = spec.trainable and self.trainable, active_trace()
        called = trace is not None and trace.open_calls and trace.open_calls[-1].layer is self
        if self._partitioner is None or trace is None or not called:
            weight = new_weight(spec, trainable=trainable)
            self._column_weights[f"{spec.column.name}/{spec.name}"] = weight
            return weight
        scope = f"{trace.open_calls[-1].path}/{spec.column.name}"
        variable = partitioned(spec, scope=scope, partitioner=self._partitioner, trainable=trainable)
        self._keep(f"{spec.column.name}/{spec.name}", variable)
        return variable

    def _enter_graph(self) -> None:
        """Makes sure that a layer that was built before works with the variables of the graph it is called in."""
        self._take_shared_tables()
        pieces = [piece for column in self.feature_columns for piece in self._columns.partitioned_of(column)]
        if any(piece.graph is not tf.compat.v1.get_default_graph() for piece in pieces):
            raise UsageError(
                f"{type(self).__name__} '{self.name}': its weights are partitioned and belong to another graph than "
                "the one being built. Make the layer inside model_fn, so that each graph gets its own."
            )

    def _take_shared_tables(self) -> None:
        """Makes the shared embeddings of this graph weights of the layer; the columns make them, and tell nobody."""
        with tf.init_scope():
            tables = self._columns.shared_tables()
        for name, table in tables.items():
            self._keep(name, table)

    def _keep(self, name: str, variable: Any) -> None:
        """Lets Keras know a variable that it did not make."""
        for number, piece in enumerate(pieces_of(variable)):
            key = f"{name}/{number}"
            if key in self._column_weights:
                stand_for(self._column_weights[key], piece)
            else:
                self._column_weights[key] = view_of(piece)


def _in_a_trace() -> contextlib.AbstractContextManager[Any]:
    """A graph that no Estimator builds gets the names and the late making of variables all the same."""
    if tf.executing_eagerly() or active_trace() is not None or tf.compat.v1.get_default_graph().building_function:
        return contextlib.nullcontext()
    return keras_in_model_fn(ModeKeys.PREDICT)
