"""Combinations of features under the ids that `tf.contrib.layers.crossed_column` gave them without a `hash_key`.

TensorFlow has dropped that hash with its operation; it is written out here in whole numbers of 64 bits, which wrap
around as the operation's did. So weights of old checkpoints meet the combinations they were trained for.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_Crossed: Any = type(tf.feature_column.crossed_column(["any", "other"], 2))
_SEED = 0xDECAFCAFFE
_STEP = 0x9E3779B97F4A7800 - 2**64
_SIGN = "_X_"
_LARGEST = 2**63 - 1


class OldCrossedColumn(_Crossed):
    """`tf.feature_column.crossed_column` with the hash of `tf.contrib`."""

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The ids of all combinations."""
        parts = [_sparse(self._part(key, transformation_cache, state_manager)) for key in self._leaves(self.keys)]
        return crossed(parts, self.hash_bucket_size)

    def _transform_feature(self, inputs: Any) -> Any:
        return self.transform_feature(inputs, None)

    def _leaves(self, keys: Any) -> list[Any]:
        found = []
        for key in keys:
            found += self._leaves(key.keys) if isinstance(key, _Crossed) else [key]
        return found

    def _part(self, key: Any, cache: Any, state_manager: Any) -> Any:
        if isinstance(key, str):
            return cache.get(key, state_manager)
        return key.get_sparse_tensors(cache, state_manager).id_tensor


def crossed(parts: list[Any], hash_bucket_size: int) -> Any:
    """A sparse tensor of the ids of all combinations of one value of each part, example by example."""
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
