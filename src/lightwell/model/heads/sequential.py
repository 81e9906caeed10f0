"""`SequentialHeadWrapper`: a head for each step of a sequence, padding left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.errors import ModelFnError, WrongType
from lightwell.model.heads.base import Head, described
from lightwell.model.outputs import ExportOutput
from lightwell.model.spec import EstimatorSpec


class SequentialHeadWrapper(Head):
    """Lets another head judge the steps of sequences, one by one, and not the padding behind them.

    Logits are `[batch, steps, logits_dimension]`; labels `[batch, steps]` or `[batch, steps, D]`, dense or sparse. The
    mask is a feature, `[batch, steps]`, true where a step counts; it is among the predictions under the same name.

    Args:
        static_head: the head.
        sequence_length_mask: the name of the mask among the features.
        feature_columns: the names of features that the head needs for each step, such as its weights.
    """

    def __init__(
        self,
        static_head: Head,
        sequence_length_mask: str = "sequence_length_mask",
        feature_columns: str | Sequence[str] | None = None,
    ) -> None:
        where = type(self).__name__
        if not isinstance(sequence_length_mask, str):
            raise WrongType(
                f"{where}: `sequence_mask` column must be a string, the name of a feature. Given type: "
                f"{type(sequence_length_mask)}."
            )
        names = [feature_columns] if isinstance(feature_columns, str) else list(feature_columns or [])
        for name in names:
            if not isinstance(name, str):
                raise WrongType(
                    f"{where}: Column must a string. Given type: {type(name)}, {name!r}. Name the feature: its values "
                    "are taken as they are."
                )
        self._static_head, self._mask_key, self._feature_keys = static_head, sequence_length_mask, names

    @property
    def static_head(self) -> Head:
        """The head that is wrapped."""
        return self._static_head

    @property
    def input_sequence_mask_key(self) -> str:
        """The name of the mask."""
        return self._mask_key

    @property
    def name(self) -> str:
        """The name of the wrapped head, `_sequential` behind it."""
        return f"{self._static_head.name}_sequential" if self._static_head.name else "sequential"

    @property
    def logits_dimension(self) -> int:
        """How many logits a step needs."""
        return self._static_head.logits_dimension

    @property
    def loss_reduction(self) -> str:
        """How the losses of the steps become one."""
        return self._static_head.loss_reduction

    def loss(
        self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None
    ) -> Any:
        """The loss over the steps that count; see `Head.loss`."""
        labels, logits, features = self._steps(labels, logits, features)
        return self._static_head.loss(labels, logits, features, mode, regularization_losses)

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, Any]:
        """The predictions of the wrapped head, for every step; see `Head.predictions`."""
        return (
            self._static_head.predictions(logits, keys) if keys is not None else self._static_head.predictions(logits)
        )

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        """New metrics; see `Head.metrics`."""
        return self._static_head.metrics(regularization_losses)

    def update_metrics(
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        """Adds the steps that count to the metrics; see `Head.update_metrics`."""
        labels, logits, features = self._steps(labels, logits, features)
        return self._static_head.update_metrics(
            eval_metrics,
            features=features,
            logits=logits,
            labels=labels,
            regularization_losses=regularization_losses,
        )

    def export_outputs(self, predictions: dict[Any, Any]) -> dict[str, ExportOutput]:
        """The signatures of the wrapped head."""
        return self._static_head.export_outputs(predictions)

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
        """What a `model_fn` returns; see `Head.create_estimator_spec`."""
        if mode == ModeKeys.PREDICT:
            spec = self._static_head.create_estimator_spec(features, mode, logits)
            return spec._replace(predictions={**spec.predictions, self._mask_key: self._mask(features)})
        labels, logits, features = self._steps(labels, logits, features)
        return self._static_head.create_estimator_spec(
            features,
            mode,
            logits,
            labels,
            optimizer=optimizer,
            trainable_variables=trainable_variables,
            train_op_fn=train_op_fn,
            update_ops=update_ops,
            regularization_losses=regularization_losses,
        )

    def _steps(self, labels: Any, logits: Any, features: Any) -> tuple[Any, Any, dict[str, Any]]:
        """Labels, logits and features of the steps that count, one row each."""
        mask = self._mask(features)
        for name in self._feature_keys:
            if name not in features:
                raise ModelFnError(
                    f"{described(self)}: `{name}` column expected in features dictionary; it has "
                    f"{sorted(map(str, features))}."
                )
        return (
            tf.nest.map_structure(lambda one: self._rows(one, mask, "labels"), labels),
            tf.nest.map_structure(lambda one: self._rows(one, mask, "logits"), logits),
            {name: self._rows(features[name], mask, f"the feature {name!r}") for name in self._feature_keys},
        )

    def _mask(self, features: Any) -> Any:
        if not isinstance(features, Mapping) or self._mask_key not in features:
            raise ModelFnError(
                f"{described(self)}: The provided sequence_length_mask key `{self._mask_key}` should be included in "
                f"the features dictionary, but was not found. Found keys: {list(features or [])}."
            )
        mask = tf.cast(features[self._mask_key], tf.bool)
        if mask.shape.rank not in (None, 2):
            raise ModelFnError(
                f"{described(self)}: the mask {self._mask_key!r} is `[batch, steps]`, got the shape {mask.shape}. "
                "tf.sequence_mask(lengths) makes one."
            )
        return mask

    def _rows(self, values: Any, mask: Any, named: str) -> Any:
        if isinstance(values, tf.SparseTensor):
            values = tf.sparse.to_dense(values)
        values = tf.convert_to_tensor(values)
        text = (
            f"{described(self)}: {named} must have a value for each step, [batch, steps] or [batch, steps, D], with "
            "the steps of the mask"
        )
        if values.shape.rank is not None and not values.shape[:2].is_compatible_with(mask.shape):
            raise ModelFnError(f"{text}, {mask.shape}, got the shape {values.shape}.")
        fits = tf.debugging.assert_equal(tf.shape(values)[:2], tf.shape(mask), message=f"{text}.")
        with tf.control_dependencies([] if fits is None else [fits]):
            values = tf.identity(values)
        rows = tf.boolean_mask(values, mask)
        return tf.expand_dims(rows, -1) if rows.shape.rank == 1 else rows
