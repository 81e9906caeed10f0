"""Feature columns: from features to tensors, each column a layer with a known slot.

The columns are TensorFlow's own (`tf.feature_column`). `DenseFeatures` and `SequenceFeatures` are Keras layers and load
Keras when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightwell.base.lazy import lazy_names

if TYPE_CHECKING:  # what editors and type checkers see of the names that are looked up on first use
    from lightwell.model.feature_columns.dense_features import DenseFeatures as DenseFeatures
    from lightwell.model.feature_columns.dense_input import input_layer as input_layer
    from lightwell.model.feature_columns.linear import linear_model as linear_model
    from lightwell.model.feature_columns.recording import recording_columns as recording_columns
    from lightwell.model.feature_columns.sequence_features import SequenceFeatures as SequenceFeatures
    from lightwell.model.feature_columns.slots import ColumnsLayer as ColumnsLayer
    from lightwell.model.feature_columns.slots import ColumnSlot as ColumnSlot
    from lightwell.model.feature_columns.slots import ColumnTerm as ColumnTerm

_HERE = "lightwell.model.feature_columns"

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "ColumnSlot": f"{_HERE}.slots:ColumnSlot",
        "ColumnTerm": f"{_HERE}.slots:ColumnTerm",
        "ColumnsLayer": f"{_HERE}.slots:ColumnsLayer",
        "DenseFeatures": f"{_HERE}.dense_features:DenseFeatures",
        "SequenceFeatures": f"{_HERE}.sequence_features:SequenceFeatures",
        "input_layer": f"{_HERE}.dense_input:input_layer",
        "linear_model": f"{_HERE}.linear:linear_model",
        "recording_columns": f"{_HERE}.recording:recording_columns",
    },
    label="lightwell.feature_columns",
)
