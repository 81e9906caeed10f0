"""Heads of numbers: `regression_head`, `poisson_regression_head`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.learn.estimators.constants import PredictionKey, ProblemType
from lightwell.compat.contrib.learn.heads.base import Head, SingleHead, column


class RegressionHead(SingleHead):
    """Numbers, with the squared error as loss."""

    default_name = "regression_head"

    def __init__(
        self,
        label_name: str | None,
        weight_column_name: str | None,
        label_dimension: int,
        enable_centered_bias: bool,
        head_name: str | None,
        link_fn: Callable[[Any], Any] | None,
    ) -> None:
        super().__init__(
            ProblemType.LINEAR_REGRESSION,
            label_dimension,
            label_name,
            weight_column_name,
            enable_centered_bias,
            head_name,
        )
        self._link_fn = link_fn or tf.identity

    def losses(self, logits: Any, labels: Any) -> Any:
        return tf.math.squared_difference(logits, labels)

    def predictions(self, logits: Any) -> dict[str, Any]:
        scores = tf.squeeze(logits, [1]) if self.logits_dimension == 1 else logits
        return {PredictionKey.SCORES: self._link_fn(scores)}

    def _processed(self, labels: Any) -> Any:
        return column(labels, dtype=tf.float32)


class PoissonRegressionHead(RegressionHead):
    """Counts, with the likelihood of a Poisson distribution as loss."""

    def losses(self, logits: Any, labels: Any) -> Any:
        return tf.nn.log_poisson_loss(labels, logits, compute_full_loss=True)


def regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    link_fn: Callable[[Any], Any] | None = None,
) -> Head:
    """A head of numbers; see `SingleHead` for the arguments. `link_fn` makes predictions of logits."""
    return RegressionHead(label_name, weight_column_name, label_dimension, enable_centered_bias, head_name, link_fn)


def poisson_regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Head:
    """A head of counts."""
    return PoissonRegressionHead(
        label_name, weight_column_name, label_dimension, enable_centered_bias, head_name, tf.exp
    )
