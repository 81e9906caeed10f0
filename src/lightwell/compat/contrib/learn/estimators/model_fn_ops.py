"""`tf.contrib.learn.ModelFnOps`: what a `model_fn` of contrib.learn returns, and how it becomes an `EstimatorSpec`."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from lightwell.base.keys import DEFAULT_SERVING_SIGNATURE, ModeKeys
from lightwell.compat.contrib.learn.estimators.constants import PredictionKey, ProblemType
from lightwell.errors import ModelFnError, UsageError
from lightwell.model.outputs import ClassificationOutput, PredictOutput, RegressionOutput
from lightwell.model.spec import EstimatorSpec

_Fields = namedtuple(
    "_Fields",
    (
        "predictions",
        "loss",
        "train_op",
        "eval_metric_ops",
        "output_alternatives",
        "training_chief_hooks",
        "training_hooks",
        "scaffold",
        "mode",
    ),
)


class ModelFnOps(_Fields):
    """Predictions, loss and training step of a model.

    Args:
        mode: of `learn.ModeKeys`.
        predictions: a tensor, or tensors by name.
        loss: a scalar; needed for training and evaluation.
        train_op: the training step; needed for training.
        eval_metric_ops: `(value, update)` pairs by name.
        output_alternatives: `(problem type, tensors by name)` pairs by name: what an export offers.
        training_chief_hooks: hooks of the chief.
        training_hooks: hooks of all workers.
        scaffold: a `tf.train.Scaffold`.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        output_alternatives: Mapping[Any, Any] | None = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        if train_op is None and mode == ModeKeys.TRAIN:
            raise UsageError("ModelFnOps: Missing train_op: training needs the operation of one step.")
        if loss is None and mode != ModeKeys.PREDICT:
            raise UsageError(f"ModelFnOps: Missing loss: mode {mode!r} needs a scalar.")
        if predictions is None and mode != ModeKeys.TRAIN:
            raise UsageError(f"ModelFnOps: Missing predictions: mode {mode!r} needs a tensor or a dict of tensors.")
        return super().__new__(
            cls,
            predictions,
            None if loss is None else tf.convert_to_tensor(loss),
            train_op,
            dict(eval_metric_ops or {}),
            output_alternatives,
            tuple(training_chief_hooks or ()),
            tuple(training_hooks or ()),
            scaffold,
            mode,
        )

    def estimator_spec(self, default_serving_output_alternative_key: str | None = None) -> EstimatorSpec:
        """The same for an Estimator of `tf.estimator`.

        Args:
            default_serving_output_alternative_key: which output alternative an export serves by default; needed where
                there are several.
        """
        exports = export_outputs(self.output_alternatives, self.predictions, default_serving_output_alternative_key)
        return EstimatorSpec(
            self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            # The Estimator reports the mean of the losses itself.
            eval_metric_ops={name: pair for name, pair in self.eval_metric_ops.items() if name != "loss"},
            export_outputs=exports if self.mode == ModeKeys.PREDICT else None,
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )


def model_fn_ops(result: Any, mode: str) -> ModelFnOps:
    """What a `model_fn` returned: a `ModelFnOps`, or `(predictions, loss, train_op)`.

    Raises:
        ModelFnError: it is neither.
    """
    if isinstance(result, ModelFnOps):
        return result
    if not isinstance(result, tuple) or len(result) != 3:
        raise ModelFnError(
            "learn.Estimator: Unrecognized value returned by model_fn: expected a ModelFnOps, or a tuple "
            f"(predictions, loss, train_op), got {type(result).__name__}."
        )
    predictions, loss, train_op = result
    return ModelFnOps(mode, predictions, loss, train_op)


def export_outputs(alternatives: Mapping[Any, Any] | None, predictions: Any, default: str | None) -> dict[str, Any]:
    """The outputs of an export: each alternative under its name, one of them as the default.

    Raises:
        UsageError: there are several, and none of the name `default`.
    """
    if not alternatives:
        if predictions is None:
            return {}
        return {DEFAULT_SERVING_SIGNATURE: PredictOutput(_named(predictions))}
    if len(alternatives) > 1 and default not in alternatives:
        raise UsageError(
            "export_savedmodel: there are several output alternatives, and default_output_alternative_key is "
            f"{default!r}; pass one of: {', '.join(sorted(map(repr, alternatives)))}."
        )
    chosen = default if default in alternatives else next(iter(alternatives))
    outputs = {str(name): _output(*pair) for name, pair in alternatives.items() if name is not None}
    outputs[DEFAULT_SERVING_SIGNATURE] = _output(*alternatives[chosen])
    return outputs


def _named(predictions: Any) -> dict[str, Any]:
    return dict(predictions) if isinstance(predictions, Mapping) else {PredictionKey.GENERIC: predictions}


def _output(problem: int, tensors: Any) -> Any:
    named = {str(name): value for name, value in _named(tensors).items()}
    if problem == ProblemType.LINEAR_REGRESSION and len(named) == 1:
        (value,) = named.values()
        if value.dtype.is_floating:
            return RegressionOutput(value)
    if problem in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
        scores, classes = named.get(PredictionKey.PROBABILITIES), named.get(PredictionKey.CLASSES)
        if classes is not None and classes.dtype != tf.string:
            classes = None
        if scores is not None or classes is not None:
            return ClassificationOutput(scores, classes)
    return PredictOutput(named)
