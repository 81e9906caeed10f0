"""Cells of `tf.contrib.metrics`."""

from __future__ import annotations

from collections.abc import Mapping

# After `streaming_`; the module has the table of what they are.
_STREAMING = """
    accuracy auc false_negatives false_negatives_at_thresholds false_positives false_positives_at_thresholds mean
    mean_absolute_error mean_cosine_distance mean_iou mean_relative_error mean_squared_error mean_tensor
    percentage_less precision precision_at_thresholds recall recall_at_k recall_at_thresholds root_mean_squared_error
    sensitivity_at_specificity sparse_average_precision_at_k sparse_precision_at_k sparse_precision_at_top_k
    sparse_recall_at_k specificity_at_sensitivity true_negatives true_negatives_at_thresholds true_positives
    true_positives_at_thresholds
"""
_IN_SLIM = "The package tf_slim carries it on: pip install 'lightwell[contrib]'."

CELLS: Mapping[str, str] = (
    {f"streaming_{name}": f"lightwell.compat.contrib.metrics.streaming:streaming_{name}" for name in _STREAMING.split()}
    | {
        name: f"lightwell.compat.contrib.metrics.batch:{name}"
        for name in ("accuracy", "aggregate_metric_map", "aggregate_metrics")
    }
    | {
        "confusion_matrix": "tensorflow:compat.v1.confusion_matrix",
        "set_difference": "tensorflow:sets.difference",
        "set_intersection": "tensorflow:sets.intersection",
        "set_size": "tensorflow:sets.size",
        "set_union": "tensorflow:sets.union",
        "": f"?tf_slim.metrics {_IN_SLIM} Or use tf.compat.v1.metrics.",
    }
)
