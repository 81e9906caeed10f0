"""The step of a training of trees: a function from what variables hold and a batch to what they hold then.

First numbers are counted for `n_batches_per_layer` batches, until their quantiles are known. Then, where wanted, the
first leaf takes the bias. Then each `n_batches_per_layer` batches grow a layer. In memory, one batch is all data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.estimator.canned.trees.columns import FeatureGroup, Inputs
from lightwell.estimator.canned.trees.growth import best_splits, grow, layer_nodes, move_bias, sums_by_bucket
from lightwell.estimator.canned.trees.messages import read_ensemble
from lightwell.estimator.canned.trees.quantiles import COLUMNS, boundaries, with_batch
from lightwell.estimator.canned.trees.resources import Boundaries, Trees, saved_variable, session_variable
from lightwell.estimator.canned.trees.settings import TreeSettings

Array = np.ndarray[Any, Any]
_v1 = tf.compat.v1
_FIXED = 7  # variables that every model has, before those of numbers and groups


@dataclass(frozen=True, eq=False)
class Step:
    """What a step did.

    Attributes:
        done: the op of the step.
        grew: whether it counts as a step: it did not count numbers.
        needed_bias: whether the bias was still being found before it.
        before, after: how many trees there are, how many of them are grown, how many layers were tried.
    """

    done: Any
    grew: Any
    needed_bias: Any
    before: Any
    after: Any


class Stepping:
    """The variables of a training, and the step.

    Args:
        trees: the trees.
        bounds: the boundaries of numbers.
        groups: the features.
        settings: how trees grow.
        logits: how many logits an example has.
    """

    def __init__(
        self,
        trees: Trees,
        bounds: Boundaries,
        groups: Sequence[FeatureGroup],
        settings: TreeSettings,
        logits: int,
    ) -> None:
        self._groups, self._settings, self._logits = groups, settings, logits
        self._width = logits + logits * logits
        self._numbers = bounds.values
        self._variables = [
            trees.serialized,
            trees.stamp,
            bounds.are_ready,
            saved_variable(settings.center_bias, "center_bias_needed"),
            session_variable(tf.zeros([self._width], tf.float32), "bias_sums"),
            session_variable(tf.zeros([3], tf.int32), "batches"),
            session_variable(tf.zeros([0, COLUMNS], tf.float64), "counted_numbers", [None, COLUMNS]),
            *self._numbers,
            *(session_variable(tf.zeros(self._shape(group)), f"sums_{at}") for at, group in enumerate(groups)),
        ]

    def step(self, inputs: Inputs, nodes: Any, derivatives: tuple[Any, Any], weights: Any) -> Step:
        """A step.

        Args:
            inputs: the features of the batch.
            nodes: the leaf of each example in the tree that grows.
            derivatives: the first and second derivatives of the loss by the logits.
            weights: a weight for each example, or one for all.
        """
        first, second = derivatives
        values = [variable.read_value() for variable in self._variables]
        numbers = tf.stack(inputs.numbers, axis=1) if inputs.numbers else tf.zeros([0, 0])
        batch = [tf.concat(inputs.buckets, axis=1), numbers, weights, nodes, tf.concat([first, second], axis=1)]
        types = [value.dtype for value in values] + [tf.bool, tf.int32, tf.int32]
        *new, grew, before, after = tf.numpy_function(self._computed, [*values, *batch], types, name="step")
        with tf.control_dependencies(values):
            done = [
                variable.assign(tf.ensure_shape(value, variable.shape), read_value=False)
                for variable, value in zip(self._variables, new, strict=True)
            ]
        before, after = tf.ensure_shape(before, [3]), tf.ensure_shape(after, [3])
        return Step(tf.group(*done), tf.ensure_shape(grew, []), values[3], before, after)

    def _shape(self, group: FeatureGroup) -> list[int]:
        if self._settings.train_in_memory:
            return [0]  # the sums of one batch are all
        return [len(group.ids), self._settings.most_splits, group.buckets + 1, self._width]

    def _computed(self, *values: Any) -> list[Any]:
        """The new values of the variables; whether the step counts as one; the state before and after it."""
        *held, buckets, numbers, weights, nodes, derivatives = values
        serialized, stamp, has_boundaries, needs_bias, bias_sums, batches, counted = held[:_FIXED]
        bounds, sums = held[_FIXED : _FIXED + len(self._numbers)], held[_FIXED + len(self._numbers) :]
        ensemble = read_ensemble(serialized)
        before = _state_of(ensemble)
        batches, grew = np.array(batches), bool(has_boundaries)
        if not has_boundaries:
            counted = with_batch(counted, numbers, weights, self._settings.buckets_of_numbers)
            if self._is_full(batches, 0):
                bounds = [boundaries(counted, place, self._settings.buckets_of_numbers) for place in range(len(bounds))]
                has_boundaries, counted = np.asarray(True), counted[:0]
        elif needs_bias:
            bias_sums = bias_sums + derivatives.mean(axis=0, dtype=np.float32)
            count = batches[1] + 1
            if self._is_full(batches, 1):
                first, second = np.split(bias_sums / np.float32(count), [self._logits])
                needs_bias = np.asarray(move_bias(ensemble, first, second, self._settings))
                bias_sums, stamp = np.zeros_like(bias_sums), stamp + 1
        else:
            new = [
                sums_by_bucket(group, self._settings.most_splits, buckets, nodes, derivatives) for group in self._groups
            ]
            if not self._settings.train_in_memory:
                sums = new = [held + own for held, own in zip(sums, new, strict=True)]
            count = batches[2] + 1
            if self._is_full(batches, 2):
                means = [one / np.float32(count) for one in new]
                splits = best_splits(self._groups, means, layer_nodes(ensemble), self._settings, self._logits)
                grow(ensemble, splits, self._settings, self._logits)
                sums, stamp = [np.zeros_like(one) for one in sums], stamp + 1
        return [
            ensemble.SerializeToString(),
            np.asarray(stamp, np.int64),
            has_boundaries,
            needs_bias,
            bias_sums,
            batches,
            counted,
            *bounds,
            *sums,
            np.asarray(grew),
            before,
            _state_of(ensemble),
        ]

    def _is_full(self, batches: Array, place: int) -> bool:
        """Counts a batch; whether there are enough, after which counting begins anew."""
        batches[place] += 1
        if batches[place] < (1 if self._settings.train_in_memory else self._settings.n_batches_per_layer):
            return False
        batches[place] = 0
        return True


def _state_of(ensemble: Any) -> Array:
    finished = sum(metadata.is_finalized for metadata in ensemble.tree_metadata)
    return np.asarray([len(ensemble.trees), finished, ensemble.growing_metadata.num_layers_attempted], np.int32)
