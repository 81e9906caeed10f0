"""Heads: the tops of models, each with its loss, predictions, metrics and signatures."""

from lightwell.heads.base import Head
from lightwell.heads.binary import BinaryClassHead
from lightwell.heads.multi import MultiHead
from lightwell.heads.multi_class import MultiClassHead
from lightwell.heads.multi_label import MultiLabelHead
from lightwell.heads.regression import LogisticRegressionHead, PoissonRegressionHead, RegressionHead

__all__ = [
    "BinaryClassHead",
    "Head",
    "LogisticRegressionHead",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "PoissonRegressionHead",
    "RegressionHead",
]
