"""Cells of `tf.contrib.losses`."""

from __future__ import annotations

from collections.abc import Mapping

_OPS = """
    absolute_difference add_loss compute_weighted_loss cosine_distance get_losses get_regularization_losses
    get_total_loss hinge_loss log_loss mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy
    softmax_cross_entropy sparse_softmax_cross_entropy
"""
_IN_SLIM = "The package tf_slim carries it on: pip install 'lightwell[contrib]'."

CELLS: Mapping[str, str] = {name: f"lightwell.compat.contrib.losses.ops:{name}" for name in _OPS.split()} | {
    "metric_learning": "lightwell.compat.contrib.losses.metric_learning",
    "": f"?tf_slim.losses {_IN_SLIM} Or use tf.compat.v1.losses.",
}
