"""`MultiHead`: several heads on top of one model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import DEFAULT_SERVING_SIGNATURE, PREDICT_SERVING_KEY, TRAINING_SCOPE, MetricKeys, ModeKeys
from lightwell.errors import UsageError, WrongKind, near
from lightwell.model.heads.base import Head, described, suffixed
from lightwell.model.heads.metrics import Mean
from lightwell.model.heads.penalty import penalty_metric, regularized, update_penalty_metric
from lightwell.model.heads.shapes import present
from lightwell.model.heads.training import train_op_of, write_summaries
from lightwell.model.outputs import ExportOutput, PredictOutput
from lightwell.model.spec import EstimatorSpec


class MultiHead(Head):
    """Several heads in one: trains the weighted sum of their losses, and has all their metrics and predictions.

    Labels are a dict by name of the head. Logits are a dict as well, or one tensor `[D0, D1, ... DN, logits_dimension]`
    that holds those of the heads side by side. Metrics have the name of their head for a suffix; a prediction is found
    by a pair, `(name of the head, key)`; servers get the first head unless they ask for another.

    Args:
        heads: the heads, each with a name of its own, and all with the same `loss_reduction`.
        head_weights: what the loss of each is multiplied by; 1 if None.
    """

    def __init__(self, heads: Sequence[Head], head_weights: Sequence[float] | None = None) -> None:
        where = type(self).__name__
        if not heads:
            raise UsageError(f"{where}: Must specify heads. Given: {heads}. Pass a list of heads.")
        for head in heads:
            if not hasattr(head, "create_estimator_spec"):
                raise WrongKind(f"{where}: heads must be a list of Head, got {head!r} in it.")
            if not head.name:
                raise UsageError(
                    f"{where}: All given heads must have name specified. Given: {head!r}. Pass name='...' to each head."
                )
        names = [str(head.name) for head in heads]
        if len(set(names)) < len(names):
            raise UsageError(f"{where}: the heads must have different names, got {names}.")
        if head_weights and len(head_weights) != len(heads):
            raise UsageError(
                f"{where}: heads and head_weights must have the same size. Given len(heads): {len(heads)}. Given "
                f"len(head_weights): {len(head_weights)}."
            )
        reductions = [head.loss_reduction for head in heads]
        if len(set(reductions)) > 1:
            raise UsageError(f"{where}: The loss_reduction must be the same for different heads. Given: {reductions}")
        self._heads = dict(zip(names, heads, strict=True))
        self._head_weights = dict(zip(names, head_weights or [1.0] * len(names), strict=True))
        self._loss_reduction = reductions[0]

    @property
    def name(self) -> str:
        """The names of the heads, joined by `_`."""
        return "_".join(self._heads)

    @property
    def logits_dimension(self) -> int:
        """The logits of all heads together."""
        return sum(head.logits_dimension for head in self._heads.values())

    @property
    def loss_reduction(self) -> str:
        """How the losses of a batch become one, in each head."""
        return self._loss_reduction

    def loss(
        self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None
    ) -> Any:
        """The weighted sum of the heads' losses; see `Head.loss`."""
        return self._merged(self._losses(labels, logits, features, mode), regularization_losses)

    def predictions(self, logits: Any, keys: Any = None) -> dict[tuple[str, str], Any]:
        """The predictions of all heads, by pairs of a head's name and a key.

        Args:
            logits: the logits.
            keys: not used.
        """
        logits = self._by_head(logits)
        merged: dict[tuple[str, str], Any] = {}
        for name, head in self._heads.items():
            with tf.name_scope(name):
                merged |= {(name, key): value for key, value in head.predictions(logits[name]).items()}
        return merged

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        """New metrics: the loss of each head, and what the heads bring; see `Head.metrics`."""
        metrics = penalty_metric(self._summary_key(MetricKeys.LOSS_REGULARIZATION), regularization_losses)
        metrics |= {suffixed(MetricKeys.LOSS, name): Mean(MetricKeys.LOSS) for name in self._heads}
        for name, head in self._heads.items():
            with tf.name_scope(name):
                own = head.metrics()
            known = sorted(metrics.keys() & own.keys())
            if known:
                raise UsageError(
                    f"{described(self)}: the metrics {known} of {described(head)} are called like those of another "
                    f"head. Let its metrics end in its name, {known[0]}/{name}."
                )
            metrics |= own
        return metrics

    def update_metrics(  # type: ignore[override]  # heads of tf.estimator leave out `mode`
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        """Adds a batch to the metrics; see `Head.update_metrics`."""
        logits, labels = self._by_head(logits), self._labels(labels)
        update_penalty_metric(eval_metrics, self._summary_key(MetricKeys.LOSS_REGULARIZATION), regularization_losses)
        for name, loss in self._losses(labels, logits, features, ModeKeys.EVAL).items():
            eval_metrics[suffixed(MetricKeys.LOSS, name)].update_state(loss)
        for name, head in self._heads.items():
            head.update_metrics(eval_metrics, features=features, logits=logits[name], labels=labels[name])
        return eval_metrics

    def export_outputs(self, predictions: dict[Any, Any]) -> dict[str, ExportOutput]:
        """The signatures of all heads, below their names; the first head's is what servers get when they name none."""
        merged: dict[str, ExportOutput] = {}
        for name, head in self._heads.items():
            own = head.export_outputs({key: value for (owner, key), value in predictions.items() if owner == name})
            merged.setdefault(DEFAULT_SERVING_SIGNATURE, own[DEFAULT_SERVING_SIGNATURE])
            merged[name] = own[DEFAULT_SERVING_SIGNATURE]
            merged |= {f"{name}/{key}": output for key, output in own.items() if key != DEFAULT_SERVING_SIGNATURE}
        return {**merged, PREDICT_SERVING_KEY: PredictOutput(predictions)}

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """What a `model_fn` returns; see `Head.create_estimator_spec`. Training shows the loss of each head."""
        if mode != ModeKeys.TRAIN:
            return super().create_estimator_spec(
                features, mode, logits, labels, regularization_losses=regularization_losses
            )
        with tf.name_scope(self.name):
            predictions = self.predictions(logits)
            losses = self._losses(labels, logits, features, mode)
            loss = self._merged(losses, regularization_losses)
        train_op = train_op_of(
            loss,
            described(self),
            optimizer=optimizer,
            trainable_variables=trainable_variables,
            train_op_fn=train_op_fn,
            update_ops=update_ops,
            scope=f"{TRAINING_SCOPE}_{len(self._heads)}",  # each of the heads had one in tf.estimator
        )
        of_heads = {suffixed(MetricKeys.LOSS, name): value for name, value in losses.items()}
        write_summaries(loss, regularization_losses, key_of=str, **of_heads)
        return EstimatorSpec(mode, predictions, loss, train_op)

    def _losses(self, labels: Any, logits: Any, features: Any, mode: Any) -> dict[str, Any]:
        logits, labels = self._by_head(logits), self._labels(labels)
        losses = {}
        for name, head in self._heads.items():
            with tf.name_scope(name):
                losses[name] = head.loss(labels[name], logits[name], features=features, mode=mode)
        return losses

    def _merged(self, losses: Mapping[str, Any], regularization_losses: Any) -> Any:
        with tf.name_scope("merge_losses"):
            weighted = [loss * self._head_weights[name] for name, loss in losses.items()]
            return regularized(tf.add_n(weighted), regularization_losses)

    def _labels(self, labels: Any) -> Mapping[str, Any]:
        if labels is None:
            present(labels, described(self))
        if not isinstance(labels, Mapping):
            raise UsageError(
                f"{described(self)}: labels must be a dict. Given: {labels}. Let input_fn return labels by name of the "
                f"head: {list(self._heads)}."
            )
        self._check_complete(labels, "labels")
        return labels

    def _by_head(self, logits: Any) -> Mapping[str, Any]:
        if isinstance(logits, Mapping):
            self._check_complete(logits, "logits")
            return logits
        logits = tf.convert_to_tensor(logits)
        sizes = [head.logits_dimension for head in self._heads.values()]
        last = logits.shape[-1] if logits.shape.rank else None
        if last is not None and last != sum(sizes):
            raise UsageError(
                f"{described(self)}: Could not split logits of shape {logits.shape.as_list()} among the heads with "
                f"individual logits dimensions: {sizes}. The last dimension of the logits tensor should equal "
                f"{sum(sizes)} but is {last}. Let the last layer have head.logits_dimension units, or give a dict of "
                "logits by name of the head."
            )
        with tf.name_scope("split_logits"):
            return dict(zip(self._heads, tf.split(logits, sizes, axis=-1), strict=True))

    def _check_complete(self, by_head: Mapping[str, Any], what: str) -> None:
        missing = [name for name in self._heads if name not in by_head]
        if missing:
            raise UsageError(
                f"{described(self)}: {what} has missing values for head(s): {missing}. It has {sorted(by_head)}; give "
                f"one for each head, by its name.{near(missing[0], set(by_head) - set(self._heads))}"
            )
