"""`LinearClassifier`, `LinearRegressor`, `LinearEstimator`: weighted sums of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from lightwell.base.public_names import Face
from lightwell.estimator.canned.columns import column_list
from lightwell.estimator.canned.linear_logits import SCOPE, LinearLogits, checked_combiner, linear_part
from lightwell.estimator.canned.optimizers.choose import check_optimizer, optimizer_for, step_by
from lightwell.estimator.canned.partitioning import default_partitioner
from lightwell.estimator.canned.sdca import LinearSDCA
from lightwell.estimator.canned.spec import checked_head, spec_of
from lightwell.estimator.canned.task_heads import classifier_head, regressor_head
from lightwell.estimator.core import Estimator
from lightwell.model.heads.losses import SUM_OVER_BATCH_SIZE
from lightwell.model.spec import EstimatorSpec
from lightwell.run.config import RunConfig

_v1 = tf.compat.v1
_HIGHEST_RATE = 0.2


class LinearClassifier(Estimator):
    """A linear model that tells classes apart.

        city = tf.feature_column.categorical_column_with_hash_bucket("city", 100)
        est = lw.LinearClassifier([tf.feature_column.numeric_column("age"), city])
        est.train(input_fn, steps=1000)
        est.layers["linear/linear_model/city"]

    Args:
        feature_columns: columns, dense or categorical.
        model_dir: see `Estimator`.
        n_classes: how many classes; labels are 0 to `n_classes - 1`, `[batch, 1]`.
        weight_column: the name of a feature that weighs the examples, or a `numeric_column`.
        label_vocabulary: the classes by name, if labels are strings.
        optimizer: "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD", an optimizer of any make, a function that makes one, or
            a `LinearSDCA`.
        config: a `RunConfig`.
        warm_start_from: see `Estimator`; a path warm-starts all weights of the model.
        loss_reduction: how the losses of a batch become one; summed up on the v1 face.
        sparse_combiner: what several values of a categorical column give: "sum", "mean" or "sqrtn".
        partitioner: splits the weights; an argument of the v1 face.
    """

    _face: ClassVar[Face] = "v2"

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        sparse_combiner: str = "sum",
        *,
        partitioner: Any = None,
    ) -> None:
        head = classifier_head(
            self._face,
            type(self).__name__,
            n_classes=n_classes,
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
        )
        model = _model(self, head, feature_columns, optimizer, sparse_combiner, partitioner)
        super().__init__(model, model_dir, config, warm_start_from=warm_start_from)


class LinearRegressor(Estimator):
    """A linear model that predicts numbers.

    Args:
        label_dimension: how many numbers per example; labels are `[batch, label_dimension]`.
        feature_columns, model_dir, weight_column, optimizer, config, warm_start_from, loss_reduction, sparse_combiner,
            partitioner: see `LinearClassifier`.
    """

    _face: ClassVar[Face] = "v2"

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        sparse_combiner: str = "sum",
        *,
        partitioner: Any = None,
    ) -> None:
        head = regressor_head(
            self._face, label_dimension=label_dimension, weight_column=weight_column, loss_reduction=loss_reduction
        )
        model = _model(self, head, feature_columns, optimizer, sparse_combiner, partitioner)
        super().__init__(model, model_dir, config, warm_start_from=warm_start_from)


class LinearEstimator(Estimator):
    """A linear model with a head of your choice.

    Args:
        head: a `Head`.
        feature_columns, model_dir, optimizer, config, sparse_combiner, warm_start_from, partitioner: see
            `LinearClassifier`.
    """

    _face: ClassVar[Face] = "v2"

    def __init__(
        self,
        head: Any,
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        sparse_combiner: str = "sum",
        warm_start_from: Any = None,
        *,
        partitioner: Any = None,
    ) -> None:
        checked_head(head, type(self).__name__)
        model = _model(self, head, feature_columns, optimizer, sparse_combiner, partitioner)
        super().__init__(model, model_dir, config, warm_start_from=warm_start_from)


@dataclass(frozen=True)
class LinearModel:
    """The `model_fn` of a linear model.

    Attributes:
        head: the head.
        logits: how the logits come about.
        optimizer: what a user gave as one.
        partitioner: splits the weights.
    """

    head: Any
    logits: LinearLogits
    optimizer: Any
    partitioner: Any

    def __call__(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        face, where = self.logits.face, self.logits.where

        def train_op_fn(loss: Any) -> Any:
            if isinstance(self.optimizer, LinearSDCA):
                return self.optimizer.train_op(
                    where=where,
                    face=face,
                    head=self.head,
                    features=features,
                    labels=labels,
                    logits=logits,
                    variables=variables,
                    bias=bias,
                )
            rate = linear_rate(len(self.logits.feature_columns), _HIGHEST_RATE)
            return step_by(optimizer_for(face, self.optimizer, where, rate=rate), loss)

        with _v1.variable_scope(SCOPE, partitioner=self.partitioner or default_partitioner(face, config)):
            logits, variables, bias = linear_part(self.logits, features, self.head.logits_dimension)
            return spec_of(
                self.head, features=features, mode=mode, labels=labels, logits=logits, train_op_fn=train_op_fn
            )


def linear_rate(columns: int, highest: float) -> float:
    """The learning rate of a linear model: the more columns there are, the smaller."""
    return min(highest, 1.0 / math.sqrt(columns))


def _model(
    model: LinearClassifier | LinearRegressor | LinearEstimator,
    head: Any,
    feature_columns: Any,
    optimizer: Any,
    sparse_combiner: str,
    partitioner: Any,
) -> LinearModel:
    where = type(model).__name__
    optimizer = optimizer or "Ftrl"
    if isinstance(optimizer, LinearSDCA):
        optimizer.check(head, sparse_combiner, where)
    else:
        check_optimizer(optimizer, where, face=model._face)
    columns, combiner = column_list(feature_columns, where), checked_combiner(sparse_combiner, where)
    return LinearModel(head, LinearLogits(where, columns, combiner, model._face), optimizer, partitioner)
