"""Heads: the tops of models, each with its loss, predictions, metrics and signatures."""

from lightwell.model.heads.base import Head
from lightwell.model.heads.binary import BinaryClassHead
from lightwell.model.heads.multi import MultiHead
from lightwell.model.heads.multi_class import MultiClassHead
from lightwell.model.heads.multi_label import MultiLabelHead
from lightwell.model.heads.regression import LogisticRegressionHead, PoissonRegressionHead, RegressionHead

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
