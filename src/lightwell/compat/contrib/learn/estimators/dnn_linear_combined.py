"""Wide and deep models of contrib.learn: `DNNLinearCombinedClassifier`, `...Regressor`, `...Estimator`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.compat.contrib.layers.optimize_loss import optimize_loss
from lightwell.compat.contrib.learn.estimators import dnn, linear
from lightwell.compat.contrib.learn.estimators.canned import (
    CannedEstimator,
    ClassifierVerbs,
    Engineering,
    RegressorVerbs,
    linear_rate,
    one_piece,
    optimizer_of,
)
from lightwell.compat.contrib.learn.estimators.model_fn_ops import ModelFnOps
from lightwell.compat.contrib.learn.heads.classification import multi_class_head
from lightwell.compat.contrib.learn.heads.regression import regression_head
from lightwell.errors import UsageError

_v1 = tf.compat.v1


class DNNLinearCombinedEstimator(CannedEstimator):
    """A linear and a deep model, whose logits are added, with a head of your choice.

    Args:
        head: of `tf.contrib.learn`.
        model_dir: the folder of checkpoints and events.
        linear_feature_columns: of the linear model; none if None.
        linear_optimizer: FTRL if None.
        _joint_linear_weights: whether all sparse columns of the linear model share one variable.
        dnn_feature_columns: of the deep model; none if None.
        dnn_optimizer: Adagrad with a rate of 0.05 if None.
        dnn_hidden_units: the sizes of its layers.
        dnn_activation_fn: of its layers; relu if None.
        dnn_dropout: the share of values that are dropped in training.
        gradient_clip_norm: the length to which all gradients of the deep model are cut.
        config: a `learn.RunConfig`.
        feature_engineering_fn: from features and labels to those that the model sees.
        embedding_lr_multipliers: not offered.
        fix_global_step_increment_bug: whether a step counts once; if not, it counts for each of the two models.
        input_layer_partitioner: without effect: variables are in one piece.
    """

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = None,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Engineering = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        fix_global_step_increment_bug: bool = False,
        input_layer_partitioner: Any = None,
    ) -> None:
        where = type(self).__name__
        self._linear_columns, self._dnn_columns = list(linear_feature_columns or ()), list(dnn_feature_columns or ())
        if not self._linear_columns and not self._dnn_columns:
            raise UsageError(f"{where}: Either linear_feature_columns or dnn_feature_columns must be defined.")
        if self._dnn_columns and not dnn_hidden_units:
            raise UsageError(f"{where}: dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        if embedding_lr_multipliers:
            raise UsageError(f"{where}: embedding_lr_multipliers is not offered; write a model_fn with optimize_loss.")
        self._linear_optimizer, self._joint = linear_optimizer, _joint_linear_weights
        self._dnn_optimizer, self._hidden_units = dnn_optimizer, list(dnn_hidden_units or ())
        self._activation, self._dropout = dnn_activation_fn or tf.nn.relu, dnn_dropout
        self._clip, self._counts_once = gradient_clip_norm, fix_global_step_increment_bug
        super().__init__(head, model_dir, config, feature_engineering_fn)

    def _with_head(self, features: dict[str, Any], labels: Any, mode: str) -> ModelFnOps:
        size, parts = self._head.logits_dimension, []
        if self._dnn_columns:
            with _v1.variable_scope(dnn.SCOPE, values=tuple(features.values()), partitioner=one_piece()):
                parts.append(
                    dnn.dnn_logits(
                        features,
                        self._dnn_columns,
                        self._hidden_units,
                        self._activation,
                        self._dropout,
                        size,
                        mode,
                    )
                )
        if self._linear_columns:
            parts.append(linear.linear_logits(features, self._linear_columns, size, joint=self._joint))
        logits = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        step = self._step if mode == ModeKeys.TRAIN else None
        return self._head.create_model_fn_ops(features, mode, labels, step, logits)

    def _step(self, loss: Any) -> Any:
        counter, steps = _v1.train.get_global_step(), []
        if self._dnn_columns:
            steps.append(
                optimize_loss(
                    loss,
                    counter,
                    dnn.RATE,
                    optimizer_of(self._dnn_optimizer, dnn.default_optimizer),
                    clip_gradients=self._clip,
                    variables=_v1.get_collection(dnn.SCOPE),
                    name=dnn.SCOPE,
                    summaries=[],
                    increment_global_step=not self._counts_once,
                )
            )
        if self._linear_columns:
            steps.append(
                optimize_loss(
                    loss,
                    counter,
                    linear_rate(self._linear_columns),
                    optimizer_of(self._linear_optimizer, lambda: linear.default_optimizer(self._linear_columns)),
                    clip_gradients=self._clip,
                    variables=_v1.get_collection(linear.SCOPE),
                    name=linear.SCOPE,
                    summaries=[],
                    increment_global_step=not self._counts_once,
                )
            )
        together = tf.group(*steps)
        if not self._counts_once:
            return together
        with tf.control_dependencies([together]):
            return _v1.assign_add(counter, 1).op


class DNNLinearCombinedClassifier(ClassifierVerbs, DNNLinearCombinedEstimator):
    """A wide and deep classifier; see `DNNLinearCombinedEstimator` and `DNNClassifier` for the arguments."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Engineering = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        super().__init__(
            head,
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            _joint_linear_weights,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            fix_global_step_increment_bug,
        )


class DNNLinearCombinedRegressor(RegressorVerbs, DNNLinearCombinedEstimator):
    """A wide and deep regressor; see `DNNLinearCombinedEstimator` and `DNNRegressor` for the arguments."""

    def __init__(
        self,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        config: Any = None,
        feature_engineering_fn: Engineering = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
        super().__init__(
            head,
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            _joint_linear_weights,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            fix_global_step_increment_bug,
        )
