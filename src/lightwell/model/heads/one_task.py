"""`OneTaskHead`: what the heads of one task have in common, from labels and logits to the loss of a batch."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.model.heads.base import Head, described
from lightwell.model.heads.losses import LossFn, checked_loss_fn, checked_reduction, loss_to_train, losses_from
from lightwell.model.heads.penalty import regularized
from lightwell.model.heads.shapes import checked_logits, weights_of


@dataclass(frozen=True)
class Weighed:
    """A batch as a head sees it: checked logits, labels in the head's form, losses of examples and their weights."""

    logits: Any
    labels: Any
    losses: Any
    weights: Any


class OneTaskHead(Head):
    """A head that reads its labels in one way and has one loss for each example.

    A subclass says how (`_processed_labels`, `_own_losses`); weights, a `loss_fn` of the user's and the reduction are
    seen to here.
    """

    # Regressions have a loss, and may have a weight, for each number; others have one for each example.
    _weighs_each_logit = False

    def __init__(self, name: str | None, weight_column: Any, loss_reduction: str, loss_fn: LossFn | None) -> None:
        self._name = name
        where = described(self)
        self._weight_column = weight_column
        self._loss_reduction = checked_reduction(loss_reduction, where)
        self._loss_fn = checked_loss_fn(loss_fn, where)

    @property
    def name(self) -> str | None:
        """The head's name."""
        return self._name

    @property
    def loss_reduction(self) -> str:
        """How the losses of a batch become one."""
        return self._loss_reduction

    def loss(
        self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None
    ) -> Any:
        """The loss of a batch; see `Head.loss`."""
        with tf.name_scope("losses"):
            batch = self.weighed(labels, logits, features)
            return regularized(loss_to_train(batch.losses, batch.weights, self._loss_reduction), regularization_losses)

    def weighed(self, labels: Any, logits: Any, features: Any) -> Weighed:
        """The losses of the examples of a batch and what they are weighed by, with what they were made of."""
        where = described(self)
        logits = checked_logits(logits, self.logits_dimension, where)
        labels = self._processed_labels(logits, labels)
        if self._loss_fn is None:
            losses = self._own_losses(labels, logits)
        else:
            size = self.logits_dimension if self._weighs_each_logit else 1
            losses = losses_from(self._loss_fn, labels, logits, features, self._loss_reduction, size, where)
        weights = weights_of(features, self._weight_column, logits, where, per_logit=self._weighs_each_logit)
        return Weighed(logits, labels, losses, weights)

    @abc.abstractmethod
    def _processed_labels(self, logits: Any, labels: Any) -> Any:
        """The labels, checked, in the form that losses and metrics take."""

    @abc.abstractmethod
    def _own_losses(self, labels: Any, logits: Any) -> Any:
        """A loss for each example, `[D0, D1, ... DN, 1]`, where the user brings none."""
