"""`DNNClassifier`, `DNNRegressor`, `DNNEstimator`: hidden layers over dense columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from lightwell.base.public_names import Face
from lightwell.estimator.canned.columns import dense_column_list
from lightwell.estimator.canned.dnn_logits import SCOPE, DNNLogits, checked_units
from lightwell.estimator.canned.optimizers.choose import check_optimizer, optimizer_for, step_by
from lightwell.estimator.canned.partitioning import default_partitioner
from lightwell.estimator.canned.spec import checked_head, spec_of
from lightwell.estimator.canned.task_heads import classifier_head, regressor_head
from lightwell.estimator.core import Estimator
from lightwell.model.heads.losses import SUM_OVER_BATCH_SIZE
from lightwell.model.spec import EstimatorSpec
from lightwell.run.config import RunConfig

_v1 = tf.compat.v1
_V1_RATE = 0.05


class DNNClassifier(Estimator):
    """A deep network that tells classes apart.

        est = lw.DNNClassifier([64, 32], [tf.feature_column.numeric_column("age")], n_classes=3)
        est.train(input_fn, steps=1000)
        for row in est.predict(input_fn, taps=["layers/dnn/hiddenlayer_1"]): ...

    Args:
        hidden_units: the number of units of each hidden layer.
        feature_columns: dense columns.
        model_dir: see `Estimator`.
        n_classes: how many classes; labels are 0 to `n_classes - 1`, `[batch, 1]`.
        weight_column: the name of a feature that weighs the examples, or a `numeric_column`.
        label_vocabulary: the classes by name, if labels are strings.
        optimizer: "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD", an optimizer of any make, or a function that makes one.
        activation_fn: what comes after each hidden layer; None for nothing.
        dropout: the share of values that is dropped while training.
        config: a `RunConfig`.
        warm_start_from: see `Estimator`; a path warm-starts all weights of the model.
        loss_reduction: how the losses of a batch become one; summed up on the v1 face.
        batch_norm: whether to normalise after each hidden layer.
        input_layer_partitioner: splits the weights of the columns; an argument of the v1 face.
    """

    _face: ClassVar[Face] = "v2"

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[..., Any] | None = tf.nn.relu,
        dropout: float | None = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        batch_norm: bool = False,
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
        logits = _logits(
            self, hidden_units, feature_columns, activation_fn, dropout, batch_norm, input_layer_partitioner
        )
        super().__init__(_model(head, logits, optimizer), model_dir, config, warm_start_from=warm_start_from)


class DNNRegressor(Estimator):
    """A deep network that predicts numbers.

    Args:
        label_dimension: how many numbers per example; labels are `[batch, label_dimension]`.
        hidden_units, feature_columns, model_dir, weight_column, optimizer, activation_fn, dropout, config,
            warm_start_from, loss_reduction, batch_norm, input_layer_partitioner: see `DNNClassifier`.
    """

    _face: ClassVar[Face] = "v2"

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[..., Any] | None = tf.nn.relu,
        dropout: float | None = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        batch_norm: bool = False,
        *,
        input_layer_partitioner: Any = None,
    ) -> None:
        head = regressor_head(
            self._face, label_dimension=label_dimension, weight_column=weight_column, loss_reduction=loss_reduction
        )
        logits = _logits(
            self, hidden_units, feature_columns, activation_fn, dropout, batch_norm, input_layer_partitioner
        )
        super().__init__(_model(head, logits, optimizer), model_dir, config, warm_start_from=warm_start_from)


class DNNEstimator(Estimator):
    """A deep network with a head of your choice.

    Args:
        head: a `Head`.
        hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout, config, warm_start_from,
            batch_norm, input_layer_partitioner: see `DNNClassifier`.
    """

    _face: ClassVar[Face] = "v2"

    def __init__(
        self,
        head: Any,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[..., Any] | None = tf.nn.relu,
        dropout: float | None = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
        *,
        input_layer_partitioner: Any = None,
    ) -> None:
        checked_head(head, type(self).__name__)
        logits = _logits(
            self, hidden_units, feature_columns, activation_fn, dropout, batch_norm, input_layer_partitioner
        )
        super().__init__(_model(head, logits, optimizer), model_dir, config, warm_start_from=warm_start_from)


@dataclass(frozen=True)
class DNNModel:
    """The `model_fn` of a deep model.

    Attributes:
        head: the head.
        logits: how the logits come about.
        optimizer: what a user gave as one.
    """

    head: Any
    logits: DNNLogits
    optimizer: Any

    def __call__(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        face, where = self.logits.face, self.logits.where

        def train_op_fn(loss: Any) -> Any:
            rate = _V1_RATE if face == "v1" else None
            return step_by(optimizer_for(face, self.optimizer, where, rate=rate), loss)

        with _v1.variable_scope(SCOPE, partitioner=default_partitioner(face, config)):
            logits = self.logits(features, mode, self.head.logits_dimension)
            return spec_of(
                self.head, features=features, mode=mode, labels=labels, logits=logits, train_op_fn=train_op_fn
            )


def _model(head: Any, logits: DNNLogits, optimizer: Any) -> DNNModel:
    check_optimizer(optimizer, logits.where, face=logits.face)
    return DNNModel(head, logits, optimizer)


def _logits(
    model: DNNClassifier | DNNRegressor | DNNEstimator,
    hidden_units: Any,
    feature_columns: Any,
    activation_fn: Callable[..., Any] | None,
    dropout: float | None,
    batch_norm: bool,
    partitioner: Any,
) -> DNNLogits:
    where = type(model).__name__
    return DNNLogits(
        where,
        checked_units(hidden_units, where),
        dense_column_list(feature_columns, where),
        activation_fn,
        dropout,
        batch_norm,
        partitioner,
        model._face,
    )
