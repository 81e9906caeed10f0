"""The trees and the boundaries of quantiles in variables, with the names in checkpoints that TensorFlow gave them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.foreign.private_saveables import add_saveable

_v1 = tf.compat.v1
NAME = "boosted_trees"
SERIALIZED, STAMP = f"{NAME}:0_serialized", f"{NAME}:0_stamp"
_SKETCHES = f"{NAME}/QuantileAccumulator"
BOUNDARIES = f"{_SKETCHES}:0_bucket_boundaries_"


@dataclass(frozen=True, eq=False)
class Trees:
    """The trees.

    Attributes:
        serialized: the variable with the trees, a `TreeEnsemble` message.
        stamp: the variable that grows by one with each change of them.
    """

    serialized: Any
    stamp: Any


@dataclass(frozen=True, eq=False)
class Boundaries:
    """Where the buckets of numbers end.

    Attributes:
        values: for each number of an example, the variable with its boundaries.
        are_ready: the variable that says whether they are known.
    """

    values: tuple[Any, ...]
    are_ready: Any

    def buckets_of(self, numbers: Sequence[Any]) -> list[Any]:
        """The bucket of each number, the first whose boundary is no smaller, `[batch, 1]`.

        Args:
            numbers: for each number of an example, those of the batch, `[batch]`.
        """
        return [
            tf.expand_dims(_bucket(number, variable.read_value()), 1)
            for number, variable in zip(numbers, self.values, strict=True)
        ]


def new_trees() -> Trees:
    """The trees of a model, none at first."""
    trees = Trees(_state(tf.constant(b""), "serialized"), _state(tf.constant(0, tf.int64), "stamp"))

    def restore(values: Sequence[Any]) -> Any:
        return tf.group(
            trees.stamp.assign(tf.reshape(values[0], []), read_value=False),
            trees.serialized.assign(tf.reshape(values[1], []), read_value=False),
        )

    values = [(STAMP, trees.stamp.read_value()), (SERIALIZED, trees.serialized.read_value())]
    add_saveable(trees.serialized.handle, values, restore)
    return trees


def new_boundaries(number: int) -> Boundaries:
    """The boundaries of so many numbers, none at first."""
    none = tf.zeros([0], tf.float32)
    values = tuple(_state(none, f"boundaries_{place}", [None]) for place in range(number))

    def restore(restored: Sequence[Any]) -> Any:
        return tf.group(*(one.assign(new, read_value=False) for one, new in zip(values, restored, strict=True)))

    saved = [(f"{BOUNDARIES}{place}", variable.read_value()) for place, variable in enumerate(values)]
    if saved:
        add_saveable(values[0].handle, saved, restore)
    return Boundaries(values, saved_variable(not saved, "are_boundaries_ready"))


def saved_variable(value: Any, name: str) -> Any:
    """A variable that checkpoints hold by its own name."""
    return _v1.Variable(value, trainable=False, name=name, use_resource=True)


def session_variable(value: Any, name: str, shape: Sequence[int | None] | None = None) -> Any:
    """A variable that begins anew in each session."""
    return _v1.Variable(
        value,
        trainable=False,
        name=name,
        use_resource=True,
        collections=[_v1.GraphKeys.LOCAL_VARIABLES],
        shape=shape,
    )


def _state(value: Any, name: str, shape: Sequence[int | None] = ()) -> Any:
    """A variable that checkpoints hold by another name; it gets its first value unless it was restored."""
    variable = _v1.Variable(value, trainable=False, name=name, use_resource=True, collections=[], shape=shape)
    started = _v1.cond(
        variable.is_initialized(),
        lambda: tf.constant(True),
        lambda: _and_true(variable.assign(value, read_value=False)),
    )
    _v1.add_to_collection(_v1.GraphKeys.TABLE_INITIALIZERS, started.op)
    return variable


def _and_true(op: Any) -> Any:
    with tf.control_dependencies([op]):
        return tf.constant(True)


def _bucket(numbers: Any, boundaries: Any) -> Any:
    found = tf.searchsorted(boundaries, numbers, side="left", out_type=tf.int32)
    return tf.minimum(found, tf.maximum(tf.size(boundaries) - 1, 0))
