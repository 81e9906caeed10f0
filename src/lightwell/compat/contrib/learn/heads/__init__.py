"""`tf.contrib.learn.head`: loss, predictions and metrics over logits."""

from __future__ import annotations

from lightwell.compat.contrib.learn.heads.base import Head, no_op_train_fn
from lightwell.compat.contrib.learn.heads.classification import binary_svm_head, multi_class_head
from lightwell.compat.contrib.learn.heads.multi import multi_head
from lightwell.compat.contrib.learn.heads.multi_label import multi_label_head
from lightwell.compat.contrib.learn.heads.regression import poisson_regression_head, regression_head

__all__ = [
    "Head",
    "binary_svm_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "no_op_train_fn",
    "poisson_regression_head",
    "regression_head",
]
