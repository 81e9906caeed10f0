"""The variables of k-means, with the names of `tf.estimator`'s checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

_v1 = tf.compat.v1
CENTERS = "clusters"


@dataclass(frozen=True)
class ClusterState:
    """The variables of a model.

    Attributes:
        number: the number of centers.
        centers: the centers, `[number, dimensions]`.
        chosen: whether all centers are chosen.
        counts: how many points each center stands for; None where every step sees all points.
        next_centers: the centers that the steps of an iteration work on; `centers` itself where each step is one.
        steps_left: how many steps are left of the iteration; None where each step is one.
    """

    number: int
    centers: Any
    chosen: Any
    counts: Any = None
    next_centers: Any = None
    steps_left: Any = None

    @property
    def variables(self) -> list[Any]:
        """All of them, without repetitions."""
        several = [] if self.steps_left is None else [self.next_centers, self.steps_left]
        return [self.centers, self.chosen, *several, *([] if self.counts is None else [self.counts])]


def new_state(number: int, dimensions: int | None, *, in_batches: bool, steps: int) -> ClusterState:
    """Makes the variables.

    Args:
        number: how many centers.
        dimensions: how many numbers a point has; None if that is seen only with the data.
        in_batches: whether a step sees a batch of the points, and not all.
        steps: how many steps make an iteration, after which the centers move.
    """
    centers = _centers(CENTERS, number, dimensions, trainable=True)
    chosen = _variable(False, "initialized", tf.bool)
    if not in_batches:
        return ClusterState(number, centers, chosen)
    if steps <= 1:
        return ClusterState(number, centers, chosen, _counts(tf.ones, number), centers)
    next_centers = _centers("clusters_updated", number, dimensions)
    left = _variable(steps, "update_in_steps", tf.int64)
    return ClusterState(number, centers, chosen, _counts(tf.zeros, number), next_centers, left)


def _centers(name: str, number: int, dimensions: int | None, *, trainable: bool = False) -> Any:
    if dimensions is not None:
        start = tf.zeros([number, dimensions])
        return _v1.Variable(start, trainable=trainable, name=name, use_resource=True)
    unknown = _v1.placeholder_with_default(np.zeros([number, 0], np.float32), None)
    return _v1.Variable(unknown, trainable=trainable, validate_shape=False, name=name, use_resource=True)


def _counts(start: Any, number: int) -> Any:
    return _variable(start([number], tf.int64), "Variable", tf.int64)


def _variable(start: Any, name: str, dtype: Any) -> Any:
    return _v1.Variable(start, trainable=False, name=name, dtype=dtype, use_resource=True)
