"""The logits of examples by the trees, in ops that every TensorFlow has; so a SavedModel needs no Lightwell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.estimator.canned.trees.messages import PACKAGE, descriptor_source

_TO_THE_LEFT_ALWAYS = 0
_SPLIT_FIELDS = ["feature_id", "left_id", "right_id"]


@dataclass(frozen=True, eq=False)
class Walk:
    """Where examples end up.

    Attributes:
        logits: the sum of their leaves, `[batch, dimension]`.
        tree: the number of the last tree.
        nodes: their leaf in it, `[batch]`.
    """

    logits: Any
    tree: Any
    nodes: Any


@dataclass(frozen=True, eq=False)
class _Nodes:
    """The nodes of all trees, `[trees, nodes]`."""

    is_leaf: Any
    is_category: Any
    feature: Any
    bucket: Any
    missing_right: Any
    left: Any
    right: Any
    values: Any


def walk(serialized: Any, buckets: Any, dimension: int) -> Walk:
    """Sends examples through the trees.

    Args:
        serialized: the trees, a string.
        buckets: the bucket of each example for each feature, `[batch, features]`; -1 where it has none.
        dimension: how many logits an example has.
    """
    trees, weights = _decoded(tf.reshape(serialized, [1]), "TreeEnsemble", trees=tf.string, tree_weights=tf.float32)
    trees, weights = trees[0], weights[0]
    nodes = _nodes(trees, dimension)
    number, examples = tf.shape(trees)[0], tf.shape(buckets)[0]
    of_tree = tf.tile(tf.range(number)[tf.newaxis], [examples, 1])
    start = tf.zeros([examples, number], tf.int32)

    def at(values: Any, place: Any) -> Any:
        return tf.gather_nd(values, tf.stack([of_tree, place], axis=-1))

    def following(place: Any) -> tuple[Any]:
        bucket, wanted = tf.gather(buckets, at(nodes.feature, place), batch_dims=1), at(nodes.bucket, place)
        below = tf.where(bucket < 0, ~at(nodes.missing_right, place), bucket <= wanted)
        is_left = tf.where(at(nodes.is_category, place), tf.equal(bucket, wanted), below)
        child = tf.where(is_left, at(nodes.left, place), at(nodes.right, place))
        return (tf.where(at(nodes.is_leaf, place), place, child),)

    def goes_on(place: Any) -> Any:
        return tf.reduce_any(~at(nodes.is_leaf, place))

    (place,) = tf.while_loop(goes_on, following, [start], shape_invariants=[tf.TensorShape([None, None])])
    logits = tf.reduce_sum(at(nodes.values, place) * weights[tf.newaxis, :, tf.newaxis], axis=1)
    last = tf.concat([tf.zeros([examples, 1], tf.int32), place], axis=1)[:, -1]
    return Walk(tf.ensure_shape(logits, [None, dimension]), tf.maximum(number - 1, 0), last)


def _nodes(trees: Any, dimension: int) -> _Nodes:
    (nodes,) = _decoded(trees, "Tree", nodes=tf.string)
    leaf, split, category = _decoded(
        nodes, "Node", leaf=tf.string, bucketized_split=tf.string, categorical_split=tf.string
    )
    leaf, split, category = (_first(one) for one in (leaf, split, category))
    # An empty leaf has no bytes: a node is a leaf unless it is a split, which has children.
    of_split = [_first(one) for one in _decoded(split, "BucketizedSplit", **dict.fromkeys(_SPLIT_FIELDS, tf.int32))]
    of_category = [
        _first(one) for one in _decoded(category, "CategoricalSplit", **dict.fromkeys(_SPLIT_FIELDS, tf.int32))
    ]
    bucket, direction = _decoded(split, "BucketizedSplit", threshold=tf.int32, default_direction=tf.int32)
    (word,) = _decoded(category, "CategoricalSplit", value=tf.int32)
    is_category = of_category[1] > 0
    feature, left, right = (tf.where(is_category, *both) for both in zip(of_category, of_split, strict=True))
    return _Nodes(
        is_leaf=left <= 0,
        is_category=is_category,
        feature=feature,
        bucket=tf.where(is_category, _first(word), _first(bucket)),
        missing_right=_first(direction) > _TO_THE_LEFT_ALWAYS,
        left=left,
        right=right,
        values=_leaf_values(leaf, dimension),
    )


def _leaf_values(leaf: Any, dimension: int) -> Any:
    """The values of leaves, `[trees, nodes, dimension]`; a vector, or one number."""
    vector, scalar = _decoded(leaf, "Leaf", vector=tf.string, scalar=tf.float32)
    if dimension == 1:
        return _first(scalar)[..., tf.newaxis]
    (values,) = _decoded(_first(vector), "Vector", value=tf.float32)
    missing = tf.maximum(dimension - tf.shape(values)[-1], 0)
    return tf.pad(values, [[0, 0], [0, 0], [0, missing]])[..., :dimension]


def _decoded(messages: Any, kind: str, **fields: Any) -> list[Any]:
    """The fields of messages, each with one more dimension: the values of the field."""
    decoded = tf.io.decode_proto(
        messages,
        f"{PACKAGE}.{kind}",
        list(fields),
        list(fields.values()),
        descriptor_source=descriptor_source(),
    )
    return [tf.ensure_shape(values, [*messages.shape, None]) for values in decoded.values]


def _first(values: Any) -> Any:
    """The first value of a field; an empty one where no message has it."""
    filler = tf.zeros_like(values[..., :0], tf.int32 if values.dtype == tf.string else values.dtype)
    shape = tf.concat([tf.shape(filler)[:-1], [1]], 0)
    empty = tf.fill(shape, "") if values.dtype == tf.string else tf.zeros(shape, values.dtype)
    return tf.concat([values, empty], axis=-1)[..., 0]
