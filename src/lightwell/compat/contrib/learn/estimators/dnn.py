"""Deep models of contrib.learn: `DNNClassifier`, `DNNRegressor`, `DNNEstimator`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.compat.contrib.layers.column_inputs import input_from_feature_columns
from lightwell.compat.contrib.layers.fully_connected import fully_connected
from lightwell.compat.contrib.layers.optimize_loss import optimize_loss
from lightwell.compat.contrib.layers.small import dropout as dropped
from lightwell.compat.contrib.learn.estimators.canned import (
    CannedEstimator,
    ClassifierVerbs,
    Engineering,
    RegressorVerbs,
    columns_of,
    one_piece,
    optimizer_of,
)
from lightwell.compat.contrib.learn.estimators.model_fn_ops import ModelFnOps
from lightwell.compat.contrib.learn.heads.classification import multi_class_head
from lightwell.compat.contrib.learn.heads.regression import regression_head
from lightwell.errors import UsageError

_v1 = tf.compat.v1
SCOPE = "dnn"
RATE = 0.05


def default_optimizer() -> Any:
    """Of deep models."""
    return _v1.train.AdagradOptimizer(RATE)


def dnn_logits(
    features: Mapping[str, Any],
    columns: Sequence[Any],
    hidden_units: Sequence[int],
    activation_fn: Callable[[Any], Any] | None,
    dropout: float | None,
    size: int,
    mode: str,
) -> Any:
    """The logits of a deep model, in the scope that is open: `hiddenlayer_0`, `hiddenlayer_1`, ..., `logits`."""
    with _v1.variable_scope("input_from_feature_columns", values=tuple(features.values())) as scope:
        net = input_from_feature_columns(features, columns, weight_collections=[SCOPE], scope=scope)
    for place, units in enumerate(hidden_units):
        with _v1.variable_scope(f"hiddenlayer_{place}", values=(net,)) as scope:
            net = fully_connected(net, units, activation_fn=activation_fn, variables_collections=[SCOPE], scope=scope)
            if dropout is not None and mode == ModeKeys.TRAIN:
                net = dropped(net, keep_prob=1.0 - dropout)
        _v1.summary.scalar(f"{scope.name}/fraction_of_zero_values", tf.math.zero_fraction(net))
        _v1.summary.histogram(f"{scope.name}/activation", net)
    with _v1.variable_scope("logits", values=(net,)) as scope:
        return fully_connected(net, size, activation_fn=None, variables_collections=[SCOPE], scope=scope)


class DNNEstimator(CannedEstimator):
    """A deep model with a head of your choice.

    Args:
        head: of `tf.contrib.learn`.
        hidden_units: the sizes of its layers.
        feature_columns: of `tf.contrib.layers` or `tf.feature_column`.
        model_dir: the folder of checkpoints and events.
        optimizer: an optimizer, its name, or a function that makes one; Adagrad with a rate of 0.05 if None.
        activation_fn: of the layers.
        dropout: the share of values that are dropped in training.
        gradient_clip_norm: the length to which all gradients together are cut.
        config: a `learn.RunConfig`.
        feature_engineering_fn: from features and labels to those that the model sees.
        embedding_lr_multipliers: not offered.
        input_layer_min_slice_size: without effect: variables are in one piece.
    """

    def __init__(
        self,
        head: Any,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Engineering = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        if embedding_lr_multipliers:
            raise UsageError(
                f"{type(self).__name__}: embedding_lr_multipliers is not offered. Train with "
                "lightwell.Estimator.train(rates=...), or with optimize_loss(gradient_multipliers=...) in a model_fn."
            )
        self._columns = columns_of(type(self).__name__, feature_columns)
        self._hidden_units = list(hidden_units)
        self._optimizer, self._activation = optimizer, activation_fn
        self._dropout, self._clip = dropout, gradient_clip_norm
        super().__init__(head, model_dir, config, feature_engineering_fn)

    def _with_head(self, features: dict[str, Any], labels: Any, mode: str) -> ModelFnOps:
        with _v1.variable_scope(SCOPE, values=tuple(features.values()), partitioner=one_piece()):
            logits = dnn_logits(
                features,
                self._columns,
                self._hidden_units,
                self._activation,
                self._dropout,
                self._head.logits_dimension,
                mode,
            )

            def step(loss: Any) -> Any:
                return optimize_loss(
                    loss,
                    _v1.train.get_global_step(),
                    RATE,
                    optimizer_of(self._optimizer, default_optimizer),
                    clip_gradients=self._clip,
                    name=SCOPE,
                    summaries=[],
                )

            return self._head.create_model_fn_ops(features, mode, labels, step, logits)


class DNNClassifier(ClassifierVerbs, DNNEstimator):
    """A deep classifier. Beside the arguments of `DNNEstimator`:

    Args:
        hidden_units: see there, as for all that is not named here.
        feature_columns: see there.
        model_dir: see there.
        n_classes: how many classes.
        weight_column_name: the feature with a weight for each example.
        optimizer: see there.
        activation_fn: see there.
        dropout: see there.
        gradient_clip_norm: see there.
        enable_centered_bias: whether the bias of the logits learns by a step of its own.
        config: see there.
        feature_engineering_fn: see there.
        embedding_lr_multipliers: see there.
        input_layer_min_slice_size: see there.
        label_keys: words of the classes, where labels are words.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Engineering = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        super().__init__(
            head,
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            input_layer_min_slice_size,
        )


class DNNRegressor(RegressorVerbs, DNNEstimator):
    """A deep regressor; see `DNNClassifier`. `label_dimension` is how many numbers an example has."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Engineering = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
        super().__init__(
            head,
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            gradient_clip_norm,
            config,
            feature_engineering_fn,
            embedding_lr_multipliers,
            input_layer_min_slice_size,
        )
