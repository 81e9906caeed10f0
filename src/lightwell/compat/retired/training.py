"""Cells of `tf.contrib.training`."""

from __future__ import annotations

from collections.abc import Mapping

_HERE = "lightwell.compat.contrib.training"
_PLACES = {
    "hparam": "HParams parse_values",
    "load_balancing": "GreedyLoadBalancingStrategy RandomStrategy byte_size_load_fn",
    "train_op": """
        add_gradients_summaries clip_gradient_norms clip_gradient_norms_fn create_train_op multiply_gradients
    """,
    "waiting": "checkpoints_iterator wait_for_new_checkpoint",
}
_MONITORED = "!Use tf.compat.v1.train.MonitoredTrainingSession, or Estimator."
_SAMPLED = "!Use tf.data: dataset.rejection_resample, or tf.data.Dataset.sample_from_datasets."

CELLS: Mapping[str, str] = {
    name: f"{_HERE}.{file}:{name}" for file, names in _PLACES.items() for name in names.split()
} | {
    "": "!Use tf.data for input and tf.compat.v1.train for sessions.",
    "batch_sequences_with_states": "!Use tf.data with dataset.window, and keep the state in your model_fn.",
    "bucket": "!Use tf.data: dataset.group_by_window.",
    "bucket_by_sequence_length": "!Use tf.data: dataset.bucket_by_sequence_length.",
    "evaluate_once": "!Use Estimator.evaluate.",
    "evaluate_repeatedly": "!Use tf.estimator.train_and_evaluate, or checkpoints_iterator with Estimator.evaluate.",
    "rejection_sample": _SAMPLED,
    "resample_at_rate": _SAMPLED,
    "stratified_sample": _SAMPLED,
    "train": _MONITORED,
    "weighted_resample": _SAMPLED,
}
