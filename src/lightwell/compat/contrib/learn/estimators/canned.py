"""What the ready-made models of contrib.learn share: features by name, predictions of one kind, optimizers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.layers.optimize_loss import OPTIMIZER_CLS_NAMES
from lightwell.compat.contrib.learn.estimators.base import BaseEstimator
from lightwell.compat.contrib.learn.estimators.constants import PredictionKey
from lightwell.compat.contrib.learn.estimators.model_fn_ops import ModelFnOps
from lightwell.compat.contrib.learn.heads.base import Head
from lightwell.errors import UsageError

_v1 = tf.compat.v1
Engineering = Callable[[Any, Any], tuple[Any, Any]] | None


class CannedEstimator(BaseEstimator):
    """A model with a head. A subclass defines `_with_head(features, labels, mode)`.

    Args:
        head: what is predicted.
        model_dir: the folder of checkpoints and events.
        config: a `learn.RunConfig`.
        feature_engineering_fn: from features and labels to those that the model sees.
    """

    def __init__(self, head: Head, model_dir: Any, config: Any, feature_engineering_fn: Engineering) -> None:
        if not isinstance(head, Head):
            raise UsageError(
                f"{type(self).__name__}: head must be a head of tf.contrib.learn, as learn.multi_class_head makes it, "
                f"got {type(head).__name__}."
            )
        self._head = head
        self._engineering = feature_engineering_fn
        super().__init__(model_dir, config)

    def _ops(self, features: Any, labels: Any, mode: str) -> ModelFnOps:
        if self._engineering is not None:
            features, labels = self._engineering(features, labels)
        named = features if isinstance(features, Mapping) else {"": features}
        return self._with_head(dict(named), labels, mode)

    def _with_head(self, features: dict[str, Any], labels: Any, mode: str) -> ModelFnOps:
        raise NotImplementedError


class ClassifierVerbs(BaseEstimator):
    """The predictions of classifiers."""

    def predict(
        self,
        x: Any = None,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The classes, or the predictions of the keys in `outputs`; see `Estimator.predict`."""
        if outputs:
            return super().predict(x, input_fn, batch_size, outputs, as_iterable, iterate_batches)
        return self.predict_classes(x, input_fn, batch_size, as_iterable)

    def predict_classes(
        self,
        x: Any = None,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The class of each row."""
        return self._one(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self,
        x: Any = None,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The probabilities of all classes, for each row."""
        return self._one(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)

    def _one(self, key: str, x: Any, input_fn: Any, batch_size: int | None, as_iterable: bool) -> Any:
        rows = super().predict(x, input_fn, batch_size, [key], as_iterable)
        return only(rows, key)


class RegressorVerbs(BaseEstimator):
    """The predictions of regressors."""

    def predict(
        self,
        x: Any = None,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The scores, or the predictions of the keys in `outputs`; see `Estimator.predict`."""
        if outputs:
            return super().predict(x, input_fn, batch_size, outputs, as_iterable, iterate_batches)
        return self.predict_scores(x, input_fn, batch_size, as_iterable)

    def predict_scores(
        self,
        x: Any = None,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The number for each row."""
        rows = super().predict(x, input_fn, batch_size, [PredictionKey.SCORES], as_iterable)
        return only(rows, PredictionKey.SCORES)


def only(predictions: Any, key: str) -> Any:
    """One kind of prediction, of arrays by key or of an iterator over rows."""
    return predictions[key] if isinstance(predictions, dict) else _each(predictions, key)


def _each(rows: Iterator[Any], key: str) -> Iterator[Any]:
    return (row[key] for row in rows)


def optimizer_of(optimizer: Any, default: Callable[[], Any]) -> Any:
    """The optimizer itself, what a function makes, one of that name, or the default."""
    if optimizer is None:
        return default()
    if isinstance(optimizer, str):
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise UsageError(f"Unknown optimizer {optimizer!r}; there are: {', '.join(OPTIMIZER_CLS_NAMES)}.")
        return OPTIMIZER_CLS_NAMES[optimizer]
    return optimizer() if callable(optimizer) else optimizer


def linear_rate(columns: Sequence[Any]) -> float:
    """The learning rate of a linear model: less, the more columns there are."""
    return min(0.2, 1.0 / len(columns) ** 0.5)


def one_piece() -> Any:
    """Variables in one piece, under the names of partitioned ones: the slots of checkpoints are named after those."""
    return _v1.fixed_size_partitioner(1)


def columns_of(where: str, columns: Any) -> list[Any]:
    """The columns as a list; there must be some."""
    if not columns:
        raise UsageError(f"{where}: feature_columns must not be empty.")
    return list(columns)
