"""The heads of classifiers and regressors, as each face has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lightwell.base.public_names import Face
from lightwell.errors import UsageError
from lightwell.model.heads.binary import BinaryClassHead
from lightwell.model.heads.multi_class import MultiClassHead
from lightwell.model.heads.regression import RegressionHead
from lightwell.model.heads.v1_heads import binary_or_multi_class_head, regression_head


def classifier_head(
    face: Face,
    where: str,
    *,
    n_classes: Any,
    weight_column: Any,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: str,
) -> Any:
    """The head of a classifier.

    Raises:
        UsageError: `n_classes` is no number above 1.
    """
    if n_classes is None:
        raise UsageError(f"{where}: n_classes cannot be None. It is the number of classes, 2 or more.")
    if isinstance(n_classes, bool) or not hasattr(n_classes, "__index__") or int(n_classes) < 2:
        raise UsageError(
            f"{where}: n_classes must be > 1, a whole number, got {n_classes!r}. With two classes it is 2, with more "
            f"n_classes must be > 2: {n_classes!r}. Labels are 0 to n_classes - 1."
        )
    number = int(n_classes)
    if face == "v1":
        return binary_or_multi_class_head(number, weight_column, label_vocabulary, loss_reduction)
    if number == 2:
        return BinaryClassHead(weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction)
    return MultiClassHead(number, weight_column, label_vocabulary, loss_reduction)


def regressor_head(face: Face, *, label_dimension: int, weight_column: Any, loss_reduction: str) -> Any:
    """The head of a regressor."""
    make = regression_head if face == "v1" else RegressionHead
    return make(label_dimension=label_dimension, weight_column=weight_column, loss_reduction=loss_reduction)
