"""Several heads over one model: `multi_head`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.compat.contrib.learn.estimators.model_fn_ops import ModelFnOps
from lightwell.compat.contrib.learn.heads.base import Head, SingleHead, expected_step, no_op_train_fn
from lightwell.errors import UsageError


class MultiHead(Head):
    """Heads side by side; their logits are parts of the model's."""

    def __init__(self, heads: Sequence[SingleHead], weights: Sequence[float]) -> None:
        self._heads, self._weights = list(heads), list(weights)

    @property
    def logits_dimension(self) -> int:
        return sum(head.logits_dimension for head in self._heads)

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        step_fn = expected_step("multi_head", mode, train_op_fn)
        parts = [None] * len(self._heads)
        if logits is not None:
            parts = tf.split(logits, [head.logits_dimension for head in self._heads], -1)
        each = [
            head.create_model_fn_ops(features, mode, labels, no_op_train_fn, part, logits_input, scope)
            for head, part in zip(self._heads, parts, strict=True)
        ]
        predictions, alternatives, metrics = {}, {}, {}
        for head, ops in zip(self._heads, each, strict=True):
            predictions.update({(head.head_name, key): value for key, value in ops.predictions.items()})
            alternatives.update(ops.output_alternatives)
            metrics.update(ops.eval_metric_ops)
        loss, train_op = None, None
        if mode != ModeKeys.PREDICT:
            loss = tf.add_n([ops.loss * weight for ops, weight in zip(each, self._weights, strict=True)])
        if mode == ModeKeys.TRAIN:
            train_op = step_fn(loss)
        return ModelFnOps(mode, predictions, loss, train_op, metrics, alternatives)


def multi_head(heads: Sequence[Head], loss_weights: Sequence[float] | None = None) -> Head:
    """Several heads over one model.

    Args:
        heads: each with a `head_name` of its own.
        loss_weights: of the losses in their sum; 1 if None.
    """
    if loss_weights is not None and len(loss_weights) != len(heads):
        raise UsageError(f"multi_head: heads and loss_weights must have same size, got {len(heads)}, {loss_weights}.")
    for head in heads:
        if not isinstance(head, SingleHead):
            raise UsageError("multi_head: Members of MultiHead must be heads of this module, and no multi_head.")
    names = [head.head_name for head in heads if isinstance(head, SingleHead)]
    if None in names or len(set(names)) != len(names):
        raise UsageError(f"multi_head: each head needs a head_name of its own, got {names}.")
    chosen = [head for head in heads if isinstance(head, SingleHead)]
    return MultiHead(chosen, loss_weights or [1.0] * len(heads))
