"""The public page `lightwell.feature_columns`: `lightwell.model.feature_columns` under the name that users import."""

from typing import TYPE_CHECKING

from lightwell.base.lazy import alias
from lightwell.base.public_names import PAGES

if TYPE_CHECKING:
    from lightwell.model.feature_columns import ColumnsLayer as ColumnsLayer
    from lightwell.model.feature_columns import ColumnSlot as ColumnSlot
    from lightwell.model.feature_columns import ColumnTerm as ColumnTerm
    from lightwell.model.feature_columns import DenseFeatures as DenseFeatures
    from lightwell.model.feature_columns import SequenceFeatures as SequenceFeatures
    from lightwell.model.feature_columns import input_layer as input_layer
    from lightwell.model.feature_columns import linear_model as linear_model
    from lightwell.model.feature_columns import recording_columns as recording_columns

alias(__name__, PAGES[__name__])
