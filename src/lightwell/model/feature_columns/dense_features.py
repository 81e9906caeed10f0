"""`DenseFeatures`: columns side by side in one dense tensor, as a layer."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from lightwell.model.feature_columns.book import ColumnsAtBook
from lightwell.model.feature_columns.columns_layer import FeatureColumnsLayer
from lightwell.model.feature_columns.slots import width_of


class DenseFeatures(FeatureColumnsLayer):
    """Turns features into one dense tensor `[batch, width]`, the columns in the order of their names.

        columns = [tf.feature_column.numeric_column("age"), tf.feature_column.embedding_column(city, 8)]
        net = DenseFeatures(columns)(features)

    Embeddings made by `tf.feature_column.shared_embeddings` are weights of the layer like any other.

    Args:
        feature_columns: dense columns: one, or an iterable; they are sorted by name.
        trainable: whether the weights of the columns are trained.
        name: the layer's name.
        partitioner: splits the weights of the columns, as in `tf.compat.v1.get_variable`; only in a layer that a
            `model_fn` calls itself.
        **kwargs: as in `keras.layers.Layer`.
    """

    column_kind = "DenseColumn"
    leading_axes = 1

    def compute_output_shape(self, input_shape: Any) -> tuple[int | None, int]:
        """`(batch, width)`."""
        return (None, sum(width_of(column) for column in self.feature_columns))

    def compute_output_spec(self, features: Any, training: bool | None = None) -> keras.KerasTensor:
        """What the layer gives for symbolic inputs."""
        return keras.KerasTensor(self.compute_output_shape(None), dtype=self.compute_dtype)

    def _compute(self, book: ColumnsAtBook, cache: Any) -> tf.Tensor:
        for column in self.feature_columns:
            with tf.name_scope(column.name):
                tensor = column.get_dense_tensor(book.cache_of(column, cache), self._columns)
                self._columns.tensors[column] = tf.reshape(tensor, [tf.shape(tensor)[0], width_of(column)])
        return self._joined(book)
