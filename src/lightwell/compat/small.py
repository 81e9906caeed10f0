"""Small private things of the removed package that programs still import, each too small for a file of its own.

Owns: the `estimator_export` mark, `TaskType`, `fn_args`, the words for metrics, predictions and signatures. No logic of
the library may depend on them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from lightwell import cluster

_Marked = TypeVar("_Marked")

AVERAGE_LOSS = "average_loss"

# Keys of the signatures that a head exports.
CLASSIFY_SERVING_KEY = "classification"
DEFAULT_SERVING_KEY = "serving_default"
PREDICT_SERVING_KEY = "predict"
REGRESS_SERVING_KEY = "regression"


class TaskType:
    """The kinds of task in a cluster."""

    CHIEF = cluster.CHIEF
    EVALUATOR = cluster.EVALUATOR
    MASTER = cluster.MASTER
    PS = cluster.PS
    WORKER = cluster.WORKER


class MetricKeys:
    """Names of the metrics that heads compute; some take a threshold, a class or a name."""

    ACCURACY = "accuracy"
    ACCURACY_AT_THRESHOLD = "accuracy/positive_threshold_%g"
    ACCURACY_BASELINE = "accuracy_baseline"
    AUC = "auc"
    AUC_AT_CLASS = "auc/class%d"
    AUC_AT_NAME = "auc/%s"
    AUC_PR = "auc_precision_recall"
    AUC_PR_AT_CLASS = "auc_precision_recall/class%d"
    AUC_PR_AT_NAME = "auc_precision_recall/%s"
    LABEL_MEAN = "label/mean"
    LOSS = "loss"
    LOSS_MEAN = "average_loss"
    LOSS_REGULARIZATION = "regularization_loss"
    PRECISION = "precision"
    PRECISION_AT_RECALL = "precision_at_recall_%g"
    PRECISION_AT_THRESHOLD = "precision/positive_threshold_%g"
    PREDICTION_MEAN = "prediction/mean"
    PROBABILITY_MEAN_AT_CLASS = "probability_mean/class%d"
    PROBABILITY_MEAN_AT_NAME = "probability_mean/%s"
    RECALL = "recall"
    RECALL_AT_PRECISION = "recall_at_precision_%g"
    RECALL_AT_THRESHOLD = "recall/positive_threshold_%g"
    SENSITIVITY_AT_SPECIFICITY = "sensitivity_at_specificity_%g"
    SPECIFICITY_AT_SENSITIVITY = "specificity_at_sensitivity_%g"


class PredictionKeys:
    """Names of the predictions that heads make."""

    ALL_CLASSES = "all_classes"
    ALL_CLASS_IDS = "all_class_ids"
    CLASSES = "classes"
    CLASS_IDS = "class_ids"
    LOGISTIC = "logistic"
    LOGITS = "logits"
    PREDICTIONS = "predictions"
    PROBABILITIES = "probabilities"
    TOP_K = "top_k"


def estimator_export(*names: str, **options: Any) -> Callable[[_Marked], _Marked]:
    """Take the place of the mark that put a name into `tf.estimator`: gives the marked object back unchanged."""

    def mark(marked: _Marked) -> _Marked:
        return marked

    return mark


def fn_args(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the positional arguments of `function`, without `self` and what a partial has bound."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD)
