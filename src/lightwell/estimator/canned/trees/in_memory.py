"""What training in memory stores of each example in checkpoints: its buckets, its leaf, its logits.

Here each step sends the examples through all trees; these variables are for TensorFlow before 2.9, which goes on where
they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.estimator.canned.trees.predicting import Walk
from lightwell.estimator.canned.trees.resources import saved_variable
from lightwell.estimator.canned.trees.step import Step


class OneBatch(UsageError, AssertionError):
    """Training in memory was given batches."""


def check_one_batch(where: str, batches_per_layer: int, size: int | None) -> int:
    """The size of the batch that is all data.

    Raises:
        OneBatch: the data come in batches.
    """
    if batches_per_layer != 1 or size is None:
        came = f"n_batches_per_layer is {batches_per_layer}" if batches_per_layer != 1 else "its batches have no size"
        raise OneBatch(
            f"{where}: When train_in_memory is enabled, input_fn should return the entire dataset as a single batch, "
            f"and n_batches_per_layer should be set as 1. Here {came}. Let input_fn give "
            "tf.data.Dataset.from_tensors((features, labels)).repeat()."
        )
    return size


class Memory:
    """The variables, for the examples of a batch.

    Args:
        size: how many examples there are.
        features: how many features each has.
        logits: how many logits.
    """

    def __init__(self, size: int, features: int, logits: int) -> None:
        self._buckets = [
            saved_variable(tf.zeros([size, 1], tf.int32), f"cached_feature_{number}") for number in range(features)
        ]
        self._has_buckets = saved_variable(False, "are_features_cached")
        self._trees = saved_variable(tf.zeros([size], tf.int32), "tree_ids_cache")
        self._nodes = saved_variable(-tf.ones([size], tf.int32), "node_ids_cache")
        self._logits = saved_variable(tf.zeros([size, logits], tf.float32), "logits_cache")

    def keep(self, step: Step, buckets: Sequence[Any], walk: Walk) -> tf.Operation:
        """The op that stores where the examples were before a step that grew the trees."""
        has_trees = tf.logical_and(step.grew, ~step.needed_bias)
        walked = ((self._trees, tf.fill(tf.shape(walk.nodes), walk.tree)), (self._nodes, walk.nodes))
        return tf.group(
            *(_set(variable, new, step.grew) for variable, new in zip(self._buckets, buckets, strict=True)),
            self._has_buckets.assign(tf.logical_or(self._has_buckets.read_value(), step.grew), read_value=False),
            *(_set(variable, new, has_trees) for variable, new in (*walked, (self._logits, walk.logits))),
        )


def _set(variable: Any, value: Any, condition: Any) -> Any:
    new = tf.where(condition, tf.ensure_shape(value, variable.shape), variable.read_value())
    return variable.assign(new, read_value=False)
