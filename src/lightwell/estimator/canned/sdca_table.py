"""The state of every example, its dual variable and losses, in tables that are saved in checkpoints."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_WIDTH = 4
_EMPTY, _DELETED = [0, 0], [1, 1]
_FIRST_SIZE = 131072


class ExampleTable:
    """Id of an example -> its four numbers: dual variable, primal loss, dual loss, weight.

    Args:
        shards: in how many tables; they are named as `tf.estimator` named them.
    """

    def __init__(self, shards: int) -> None:
        self._tables = [
            tf.lookup.experimental.DenseHashTable(
                key_dtype=tf.int64,
                value_dtype=tf.float32,
                default_value=[0.0] * _WIDTH,
                empty_key=_EMPTY,
                deleted_key=_DELETED,
                initial_num_buckets=_FIRST_SIZE,
                name=f"ShardedMutableHashTable-{number}-of-{shards}",
            )
            for number in range(1, shards + 1)
        ]

    def find(self, ids: Any) -> Any:
        """The numbers of examples, zeros where they are new, `[batch, 4]`."""
        keys = _keys(ids)
        if len(self._tables) == 1:
            return tf.ensure_shape(self._tables[0].lookup(keys), [None, _WIDTH])
        shards = self._shards(keys)
        places = tf.dynamic_partition(tf.range(tf.shape(keys)[0]), shards, len(self._tables))
        parts = tf.dynamic_partition(keys, shards, len(self._tables))
        rows = [
            tf.ensure_shape(table.lookup(part), [None, _WIDTH]) for table, part in zip(self._tables, parts, strict=True)
        ]
        return tf.dynamic_stitch(places, rows)

    def insert(self, ids: Any, values: Any) -> tf.Operation:
        """The op that stores the numbers of examples."""
        keys = _keys(ids)
        if len(self._tables) == 1:
            return self._tables[0].insert(keys, values)
        shards, number = self._shards(keys), len(self._tables)
        keys, values = tf.dynamic_partition(keys, shards, number), tf.dynamic_partition(values, shards, number)
        return tf.group(*(table.insert(*part) for table, *part in zip(self._tables, keys, values, strict=True)))

    def values(self) -> Any:
        """The numbers of all examples."""
        return tf.concat([tf.reshape(table.export()[1], [-1, _WIDTH]) for table in self._tables], 0)

    def size(self) -> Any:
        """How many examples there are."""
        return tf.add_n([table.size() for table in self._tables])

    def _shards(self, keys: Any) -> Any:
        return tf.cast(tf.math.floormod(tf.abs(keys[:, 0]), len(self._tables)), tf.int32)


def _keys(ids: Any) -> Any:
    return tf.raw_ops.SdcaFprint(input=ids)
