"""`BaselineClassifier`, `BaselineRegressor`, `BaselineEstimator`: the best that can be said without any feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from lightwell.base.public_names import Face
from lightwell.errors import WrongKind
from lightwell.estimator.canned.optimizers.choose import check_optimizer, optimizer_for, step_by
from lightwell.estimator.canned.spec import checked_head, spec_of
from lightwell.estimator.canned.task_heads import classifier_head, regressor_head
from lightwell.estimator.core import Estimator
from lightwell.model.heads.losses import SUM_OVER_BATCH_SIZE
from lightwell.model.layers.record import BookCall
from lightwell.model.spec import EstimatorSpec
from lightwell.run.config import RunConfig

_v1 = tf.compat.v1
_SCOPE = "baseline"
_RATE = 0.3


class BaselineClassifier(Estimator):
    """Predicts how often each class occurs, whatever the features; any model should do better.

    Args:
        model_dir: see `Estimator`.
        n_classes: how many classes; labels are 0 to `n_classes - 1`, `[batch, 1]`.
        weight_column: the name of a feature that weighs the examples, or a `numeric_column`.
        label_vocabulary: the classes by name, if labels are strings.
        optimizer: "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD", an optimizer of any make, or a function that makes one.
        config: a `RunConfig`.
        loss_reduction: how the losses of a batch become one; summed up on the v1 face.
    """

    _face: ClassVar[Face] = "v2"

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
    ) -> None:
        head = classifier_head(
            self._face,
            type(self).__name__,
            n_classes=n_classes,
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
        )
        super().__init__(_model(self, head, optimizer), model_dir, config)


class BaselineRegressor(Estimator):
    """Predicts the mean label, whatever the features.

    Args:
        label_dimension: how many numbers per example; labels are `[batch, label_dimension]`.
        model_dir, weight_column, optimizer, config, loss_reduction: see `BaselineClassifier`.
    """

    _face: ClassVar[Face] = "v2"

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
    ) -> None:
        head = regressor_head(
            self._face, label_dimension=label_dimension, weight_column=weight_column, loss_reduction=loss_reduction
        )
        super().__init__(_model(self, head, optimizer), model_dir, config)


class BaselineEstimator(Estimator):
    """A bias alone, with a head of your choice.

    Args:
        head: a `Head`.
        model_dir, optimizer, config: see `BaselineClassifier`.
    """

    _face: ClassVar[Face] = "v2"

    def __init__(
        self, head: Any, model_dir: Any = None, optimizer: Any = "Ftrl", config: RunConfig | None = None
    ) -> None:
        checked_head(head, type(self).__name__)
        super().__init__(_model(self, head, optimizer), model_dir, config)


@dataclass(frozen=True)
class BaselineModel:
    """The `model_fn` of a bias.

    Attributes:
        face: whose names and optimizers count.
        where: the model, for errors.
        head: the head.
        optimizer: what a user gave as one.
    """

    face: Face
    where: str
    head: Any
    optimizer: Any

    def __call__(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        def train_op_fn(loss: Any) -> Any:
            return step_by(optimizer_for(self.face, self.optimizer, self.where, rate=_RATE), loss)

        with _v1.variable_scope(_SCOPE):
            bias = _v1.get_variable("bias", [self.head.logits_dimension], initializer=_v1.zeros_initializer())
            passing = BookCall(name=f"{_SCOPE}/logits", kind="Bias")
            rows = _rows(passing.pass_inputs(features), self.where)
            logits = passing.pass_outputs(tf.tile(bias[tf.newaxis, :], [rows, 1]), variables=[bias])
        return spec_of(self.head, features=features, mode=mode, labels=labels, logits=logits, train_op_fn=train_op_fn)


def _rows(features: Any, where: str) -> Any:
    """How many examples there are, by any of the features."""
    if not isinstance(features, Mapping) or not features:
        raise WrongKind(
            f"{where}: features should be a dictionary of `Tensor`s, got {type(features).__name__} {features!r}. It "
            "reads none of them but counts the examples by one: let input_fn give {'x': x}."
        )
    first = next(iter(features.values()))
    return first.dense_shape[0] if isinstance(first, tf.SparseTensor) else tf.shape(first)[0]


def _model(
    model: BaselineClassifier | BaselineRegressor | BaselineEstimator, head: Any, optimizer: Any
) -> BaselineModel:
    where = type(model).__name__
    check_optimizer(optimizer, where, face=model._face)
    return BaselineModel(model._face, where, head, optimizer)
