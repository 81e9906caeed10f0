"""Canned models: head, logits and optimizer put together, each layer and column open to the eye."""

from lightwell.estimator.canned.baseline import BaselineClassifier, BaselineEstimator, BaselineRegressor
from lightwell.estimator.canned.dnn import DNNClassifier, DNNEstimator, DNNRegressor
from lightwell.estimator.canned.dnn_linear_combined import (
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
)
from lightwell.estimator.canned.linear import LinearClassifier, LinearEstimator, LinearRegressor

__all__ = [
    "BaselineClassifier",
    "BaselineEstimator",
    "BaselineRegressor",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
]
