"""`SequenceFeatures`: columns of sequences side by side, and the lengths of the sequences, as a layer."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from lightwell.model.feature_columns.book import ColumnsAtBook
from lightwell.model.feature_columns.columns_layer import FeatureColumnsLayer
from lightwell.model.feature_columns.slots import width_of


class SequenceFeatures(FeatureColumnsLayer):
    """Turns sequence features into a tensor `[batch, steps, width]` and the lengths `[batch]`.

        columns = [tf.feature_column.sequence_numeric_column("price"), tf.feature_column.embedding_column(word, 8)]
        inputs, lengths = SequenceFeatures(columns)(features)

    Args:
        feature_columns: sequence columns: one, or an iterable; they are sorted by name.
        trainable: whether the weights of the columns are trained.
        name: the layer's name.
        partitioner: splits the weights of the columns, as in `tf.compat.v1.get_variable`; only in a layer that a
            `model_fn` calls itself.
        **kwargs: as in `keras.layers.Layer`.
    """

    column_kind = "SequenceDenseColumn"
    leading_axes = 2

    def compute_output_shape(self, input_shape: Any) -> tuple[tuple[int | None, ...], tuple[int | None, ...]]:
        """`(batch, steps, width)` and `(batch,)`."""
        return (None, None, sum(width_of(column) for column in self.feature_columns)), (None,)

    def compute_output_spec(
        self, features: Any, training: bool | None = None
    ) -> tuple[keras.KerasTensor, keras.KerasTensor]:
        """What the layer gives for symbolic inputs."""
        values, lengths = self.compute_output_shape(None)
        return keras.KerasTensor(values, dtype=self.compute_dtype), keras.KerasTensor(lengths, dtype="int64")

    def _compute(self, book: ColumnsAtBook, cache: Any) -> tuple[tf.Tensor, tf.Tensor]:
        lengths = []
        for column in self.feature_columns:
            with tf.name_scope(column.name):
                tensor, length = column.get_sequence_dense_tensor(book.cache_of(column, cache), self._columns)
                shape = [tf.shape(tensor)[0], tf.shape(tensor)[1], width_of(column)]
                self._columns.tensors[column] = tf.reshape(tensor, shape)
                lengths.append(length)
        return self._joined(book), _agreed(lengths, self.feature_columns)


def _agreed(lengths: list[tf.Tensor], columns: tuple[Any, ...]) -> tf.Tensor:
    """The lengths, which all columns must share: they describe the same steps."""
    checks = [
        tf.debugging.assert_equal(
            lengths[0],
            length,
            message=f"SequenceFeatures: the sequences of columns '{columns[0].name}' and '{column.name}' differ in "
            "length. Columns of one layer describe the same steps: pad them alike, or use two layers.",
        )
        for length, column in zip(lengths[1:], columns[1:], strict=True)
    ]
    with tf.control_dependencies([check for check in checks if check is not None]):
        return tf.identity(lengths[0], name="sequence_length")
