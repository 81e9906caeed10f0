"""Linear models of contrib.learn: `LinearClassifier`, `LinearRegressor`, `LinearEstimator`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.layers.column_inputs import (
    joint_weighted_sum_from_feature_columns,
    weighted_sum_from_feature_columns,
)
from lightwell.compat.contrib.learn.estimators.canned import (
    CannedEstimator,
    ClassifierVerbs,
    Engineering,
    RegressorVerbs,
    columns_of,
    linear_rate,
    one_piece,
    optimizer_of,
)
from lightwell.compat.contrib.learn.estimators.model_fn_ops import ModelFnOps
from lightwell.compat.contrib.learn.heads.classification import multi_class_head
from lightwell.compat.contrib.learn.heads.regression import regression_head

_v1 = tf.compat.v1
SCOPE = "linear"


def linear_logits(features: Mapping[str, Any], columns: Sequence[Any], size: int, *, joint: bool) -> Any:
    """The logits of a linear model, with the variables in the scope `linear`.

    Args:
        features: by name.
        columns: of the features.
        size: how many logits.
        joint: whether all sparse columns share one variable.
    """
    weigh = joint_weighted_sum_from_feature_columns if joint else weighted_sum_from_feature_columns
    with _v1.variable_scope(SCOPE, values=tuple(features.values()), partitioner=one_piece()) as scope:
        logits, _, _ = weigh(features, columns, size, weight_collections=[SCOPE], scope=scope)
    return logits


def default_optimizer(columns: Sequence[Any]) -> Any:
    """Of linear models."""
    return _v1.train.FtrlOptimizer(linear_rate(columns))


class LinearEstimator(CannedEstimator):
    """A linear model with a head of your choice.

    Args:
        feature_columns: of `tf.contrib.layers` or `tf.feature_column`.
        head: of `tf.contrib.learn`.
        model_dir: the folder of checkpoints and events.
        weight_column_name: without effect: the head has it.
        optimizer: an optimizer, its name, or a function that makes one; FTRL if None.
        gradient_clip_norm: the length to which all gradients together are cut.
        _joint_weights: whether all sparse columns share one variable.
        config: a `learn.RunConfig`.
        feature_engineering_fn: from features and labels to those that the model sees.
    """

    def __init__(
        self,
        feature_columns: Any,
        head: Any,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Engineering = None,
    ) -> None:
        self._columns = columns_of(type(self).__name__, feature_columns)
        self._optimizer, self._clip, self._joint = optimizer, gradient_clip_norm, _joint_weights
        super().__init__(head, model_dir, config, feature_engineering_fn)

    def _with_head(self, features: dict[str, Any], labels: Any, mode: str) -> ModelFnOps:
        size = self._head.logits_dimension
        with _v1.variable_scope(SCOPE, values=tuple(features.values()), partitioner=one_piece()) as scope:
            weigh = joint_weighted_sum_from_feature_columns if self._joint else weighted_sum_from_feature_columns
            logits, _, _ = weigh(features, self._columns, size, weight_collections=[SCOPE], scope=scope)
            return self._head.create_model_fn_ops(features, mode, labels, self._step, logits)

    def _step(self, loss: Any) -> Any:
        variables = list(_v1.get_collection(SCOPE))
        gradients = tf.gradients(loss, variables)
        if self._clip:
            gradients, _ = tf.clip_by_global_norm(gradients, self._clip)
        optimizer = optimizer_of(self._optimizer, lambda: default_optimizer(self._columns))
        if isinstance(optimizer, type):
            optimizer = optimizer(learning_rate=linear_rate(self._columns))
        return optimizer.apply_gradients(
            zip(gradients, variables, strict=True), global_step=_v1.train.get_global_step()
        )


class LinearClassifier(ClassifierVerbs, LinearEstimator):
    """A linear classifier; see `LinearEstimator` and `DNNClassifier` for the arguments."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: Any = None,
        feature_engineering_fn: Engineering = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        super().__init__(
            feature_columns,
            head,
            model_dir,
            None,
            optimizer,
            gradient_clip_norm,
            _joint_weight,
            config,
            feature_engineering_fn,
        )


class LinearRegressor(RegressorVerbs, LinearEstimator):
    """A linear regressor; see `LinearEstimator` and `DNNRegressor` for the arguments."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Engineering = None,
    ) -> None:
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
        super().__init__(
            feature_columns,
            head,
            model_dir,
            None,
            optimizer,
            gradient_clip_norm,
            _joint_weights,
            config,
            feature_engineering_fn,
        )
