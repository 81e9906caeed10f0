"""Combinations of features with the ids of `tf.contrib.layers.crossed_column` without a `hash_key`.

TensorFlow has dropped that hash with its operation; it is written out here in whole numbers of 64 bits, which wrap
around as the operation's did. So weights of old checkpoints meet the combinations they were trained for.
"""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

_SEED = 0xDECAFCAFFE
_STEP = 0x9E3779B97F4A7800 - 2**64
_SIGN = "_X_"
_LARGEST = 2**63 - 1


def with_old_hash(column: Any) -> Any:
    """A column of `tf.feature_column.crossed_column`, with the hash of `tf.contrib`."""
    base: Any = type(column)
    return _class_with_old_hash(base)(*column)


@functools.cache
def _class_with_old_hash(base: Any) -> Any:
    """The class of crossed columns has no public name: that of a column at hand is taken."""

    class OldCrossedColumn(base):
        def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
            """The ids of all combinations, for `input_from_feature_columns` and layers of columns."""
            cache, state = transformation_cache, state_manager
            parts = [
                cache.get(key, state) if isinstance(key, str) else key.get_sparse_tensors(cache, state).id_tensor
                for key in _leaves(self.keys)
            ]
            return crossed(parts, self.hash_bucket_size)

        def _transform_feature(self, inputs: Any) -> Any:
            """The same, for `tf.compat.v1.feature_column.linear_model`."""
            parts = [
                inputs.get(key) if isinstance(key, str) else key._get_sparse_tensors(inputs).id_tensor
                for key in _leaves(self.keys)
            ]
            return crossed(parts, self.hash_bucket_size)

    return OldCrossedColumn


def _leaves(keys: Any) -> list[Any]:
    found: list[Any] = []
    for key in keys:
        found += _leaves(key.keys) if hasattr(key, "keys") else [key]
    return found


def crossed(features: list[Any], hash_bucket_size: int) -> Any:
    """A sparse tensor of the ids of all combinations of one value of each feature, example by example."""
    parts = [_sparse(one) for one in features]
    # Places are combined in place of values, and the hashes of the values are looked up by them.
    places = [
        tf.SparseTensor(one.indices, tf.strings.as_string(tf.range(tf.size(one.values))), one.dense_shape)
        for one in parts
    ]
    combined = tf.sparse.cross(places)
    words = tf.strings.split(combined.values, _SIGN).to_tensor(shape=[None, len(parts)])
    chosen = tf.strings.to_number(words, tf.int32)
    total = tf.fill([tf.size(combined.values)], tf.constant(_SEED, tf.int64))
    for number, one in enumerate(parts):
        total = _combined(total, tf.gather(_hashed(one.values), chosen[:, number]))
    return tf.SparseTensor(combined.indices, _remainder(total, hash_bucket_size), combined.dense_shape)


def _combined(left: Any, right: Any) -> Any:
    shifted = tf.bitwise.left_shift(left, tf.constant(10, tf.int64)) + tf.bitwise.right_shift(
        left, tf.constant(4, tf.int64)
    )
    return tf.bitwise.bitwise_xor(left, right + tf.constant(_STEP, tf.int64) + shifted)


def _hashed(values: Any) -> Any:
    """Whole numbers as they are, words by their fingerprint of 64 bits."""
    if values.dtype != tf.string:
        return tf.cast(values, tf.int64)
    # A fingerprint comes as a remainder only: it is one of three numbers, and its last two bits say which.
    rest = tf.strings.to_hash_bucket_fast(values, _LARGEST)
    low = tf.strings.to_hash_bucket_fast(values, 4)
    rounds = tf.math.floormod(tf.math.floormod(rest, 4) - low, 4)  # each round takes 3 off, which is 1 modulo 4
    return rest + rounds * tf.constant(_LARGEST, tf.int64)


def _remainder(values: Any, size: int) -> Any:
    """The remainders of numbers without a sign."""
    whole = tf.where(values < 0, tf.constant(2**64 % size, tf.int64), tf.constant(0, tf.int64))
    return tf.math.floormod(tf.math.floormod(values, size) + whole, size)


def _sparse(value: Any) -> Any:
    if isinstance(value, tf.SparseTensor):
        return value
    places = tf.where(tf.not_equal(value, "" if value.dtype == tf.string else -1))
    return tf.SparseTensor(places, tf.gather_nd(value, places), tf.shape(value, out_type=tf.int64))
