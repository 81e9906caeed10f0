"""`DNNLinearCombinedClassifier`, `...Regressor`, `...Estimator`: wide and deep models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from lightwell.base.public_names import Face
from lightwell.errors import UsageError
from lightwell.estimator.canned.columns import column_list, dense_column_list
from lightwell.estimator.canned.combined_model import CombinedModel
from lightwell.estimator.canned.dnn_logits import DNNLogits, checked_units
from lightwell.estimator.canned.linear_logits import LinearLogits, checked_combiner
from lightwell.estimator.canned.optimizers.choose import check_optimizer
from lightwell.estimator.canned.spec import checked_head
from lightwell.estimator.canned.task_heads import classifier_head, regressor_head
from lightwell.estimator.core import Estimator
from lightwell.model.heads.losses import SUM_OVER_BATCH_SIZE
from lightwell.run.config import RunConfig


class DNNLinearCombinedClassifier(Estimator):
    """A wide and deep model that tells classes apart: a linear model over some columns plus a network over others.

        est = lw.DNNLinearCombinedClassifier(
            linear_feature_columns=[city_by_age], dnn_feature_columns=[age, city_embedding], dnn_hidden_units=[64, 32])

    Args:
        model_dir: see `Estimator`.
        linear_feature_columns: columns of the linear part, dense or categorical; None for no such part.
        linear_optimizer: what trains it: "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD", an optimizer of any make, or a
            function that makes one.
        dnn_feature_columns: dense columns of the deep part; None for no such part.
        dnn_optimizer: what trains that.
        dnn_hidden_units: the number of units of each hidden layer.
        dnn_activation_fn: what comes after each hidden layer; None for nothing.
        dnn_dropout: the share of values that is dropped while training.
        n_classes: how many classes; labels are 0 to `n_classes - 1`, `[batch, 1]`.
        weight_column: the name of a feature that weighs the examples, or a `numeric_column`.
        label_vocabulary: the classes by name, if labels are strings.
        config: a `RunConfig`.
        warm_start_from: see `Estimator`; a path warm-starts all weights of the model.
        loss_reduction: how the losses of a batch become one; summed up on the v1 face.
        batch_norm: whether to normalise after each hidden layer.
        linear_sparse_combiner: what several values of a categorical column give: "sum", "mean" or "sqrtn".
        input_layer_partitioner: splits the weights of the columns; an argument of the v1 face.
    """

    _face: ClassVar[Face] = "v2"

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[..., Any] | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
        *,
        input_layer_partitioner: Any = None,
    ) -> None:
        where = type(self).__name__
        head = classifier_head(
            self._face,
            where,
            n_classes=n_classes,
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
        )
        builder = _ModelBuilder(where, self._face, batch_norm, input_layer_partitioner)
        linear = builder.linear(linear_feature_columns, linear_optimizer, linear_sparse_combiner)
        dnn = builder.dnn(dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout)
        model = builder.model(head, linear, linear_optimizer, dnn, dnn_optimizer)
        super().__init__(model, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedRegressor(Estimator):
    """A wide and deep model that predicts numbers.

    Args:
        label_dimension: how many numbers per example; labels are `[batch, label_dimension]`.
        model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, weight_column, config, warm_start_from, loss_reduction, batch_norm,
            linear_sparse_combiner, input_layer_partitioner: see `DNNLinearCombinedClassifier`.
    """

    _face: ClassVar[Face] = "v2"

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[..., Any] | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
        *,
        input_layer_partitioner: Any = None,
    ) -> None:
        head = regressor_head(
            self._face, label_dimension=label_dimension, weight_column=weight_column, loss_reduction=loss_reduction
        )
        builder = _ModelBuilder(type(self).__name__, self._face, batch_norm, input_layer_partitioner)
        linear = builder.linear(linear_feature_columns, linear_optimizer, linear_sparse_combiner)
        dnn = builder.dnn(dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout)
        model = builder.model(head, linear, linear_optimizer, dnn, dnn_optimizer)
        super().__init__(model, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedEstimator(Estimator):
    """A wide and deep model with a head of your choice.

    Args:
        head: a `Head`.
        model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, config, batch_norm, linear_sparse_combiner, input_layer_partitioner: see
            `DNNLinearCombinedClassifier`.
    """

    _face: ClassVar[Face] = "v2"

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[..., Any] | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        config: RunConfig | None = None,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
        *,
        input_layer_partitioner: Any = None,
    ) -> None:
        checked_head(head, type(self).__name__)
        builder = _ModelBuilder(type(self).__name__, self._face, batch_norm, input_layer_partitioner)
        linear = builder.linear(linear_feature_columns, linear_optimizer, linear_sparse_combiner)
        dnn = builder.dnn(dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout)
        super().__init__(builder.model(head, linear, linear_optimizer, dnn, dnn_optimizer), model_dir, config)


@dataclass(frozen=True)
class _ModelBuilder:
    """Builds both parts of the model with their common settings."""

    where: str
    face: Face
    batch_norm: bool
    partitioner: Any

    def linear(self, columns: Any, optimizer: Any, combiner: str) -> LinearLogits | None:
        """The linear part."""
        if not columns:
            return None
        check_optimizer(optimizer, self.where, "linear_optimizer", self.face)
        combiner = checked_combiner(combiner, self.where, "linear_sparse_combiner")
        return LinearLogits(self.where, column_list(columns, self.where, "linear_feature_columns"), combiner, self.face)

    def dnn(
        self, columns: Any, optimizer: Any, units: Any, activation_fn: Any, dropout: float | None
    ) -> DNNLogits | None:
        """The deep part."""
        if not columns:
            return None
        check_optimizer(optimizer, self.where, "dnn_optimizer", self.face)
        if not units:
            raise UsageError(
                f"{self.where}: dnn_hidden_units must be defined when dnn_feature_columns is specified. Pass the "
                "number of units of each hidden layer, such as dnn_hidden_units=[64, 32]."
            )
        return DNNLogits(
            self.where,
            checked_units(units, self.where, "dnn_hidden_units"),
            dense_column_list(columns, self.where, "dnn_feature_columns"),
            activation_fn,
            dropout,
            self.batch_norm,
            self.partitioner,
            self.face,
        )

    def model(
        self,
        head: Any,
        linear: LinearLogits | None,
        linear_optimizer: Any,
        dnn: DNNLogits | None,
        dnn_optimizer: Any,
    ) -> CombinedModel:
        """The model of both parts, or of one."""
        if linear is None and dnn is None:
            raise UsageError(
                f"{self.where}: Either linear_feature_columns or dnn_feature_columns must be defined. Pass lists of "
                "feature columns to one of them, or to both."
            )
        return CombinedModel(
            self.face, self.where, head, linear, linear_optimizer, dnn, dnn_optimizer, self.partitioner
        )
