"""`tf.contrib.losses.metric_learning`: losses that bring embeddings of one class together and keep others apart.

Contrastive (Hadsell et al., 2006), triplet with semi-hard negatives (Schroff et al., 2015), lifted structure (Oh Song
et al., 2016), and n-pairs (Sohn, 2016), with the numbers of TensorFlow 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.lazy import refuse
from lightwell.errors import UsageError

_v1 = tf.compat.v1


def contrastive_loss(labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0) -> Any:
    """The squared distance of pairs of one class, and how much others are nearer than the margin, squared.

    Args:
        labels: 1 for a pair of one class, 0 for others, `[batch]`.
        embeddings_anchor: of the first of each pair.
        embeddings_positive: of the second.
        margin: how far pairs of two classes should be apart.
    """
    distances = tf.sqrt(tf.reduce_sum(tf.math.squared_difference(embeddings_anchor, embeddings_positive), 1))
    same = tf.cast(labels, tf.float32)
    far = tf.square(tf.maximum(margin - distances, 0.0))
    return tf.reduce_mean(same * tf.square(distances) + (1.0 - same) * far, name="contrastive_loss")


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """For each pair of one class: how much the nearest of another class that is farther away is within the margin; the
    farthest of another class if none is farther away.

    Args:
        labels: of the classes, whole numbers, `[batch]`.
        embeddings: with a length of 1.
        margin: how much farther others should be.
    """
    distances = _distances(embeddings, squared=True)
    same = _same(labels)
    apart = tf.logical_not(same)
    # [anchor, positive, negative]
    farther = tf.logical_and(apart[:, None, :], distances[:, None, :] > distances[:, :, None])
    each = tf.broadcast_to(distances[:, None, :], tf.shape(farther))
    nearest = tf.reduce_min(tf.where(farther, each, tf.fill(tf.shape(each), each.dtype.max)), 2)
    farthest = tf.reduce_max(tf.where(apart, distances, tf.zeros_like(distances)), 1, keepdims=True)
    negatives = tf.where(tf.reduce_any(farther, 2), nearest, tf.broadcast_to(farthest, tf.shape(nearest)))
    pairs = _pairs(same, distances.dtype)
    losses = tf.maximum((margin + distances - negatives) * pairs, 0.0)
    return tf.math.truediv(tf.reduce_sum(losses), tf.reduce_sum(pairs), name="triplet_semihard_loss")


def lifted_struct_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """For each pair of one class: its distance, and how near all of other classes are to either of the two.

    Args:
        labels: of the classes, whole numbers, `[batch]`.
        embeddings: not normalised.
        margin: how far others should be.
    """
    distances = _distances(embeddings, squared=False)
    same = _same(labels)
    apart = tf.cast(tf.logical_not(same), distances.dtype)
    near = margin - distances
    least = tf.reduce_min(near, 1, keepdims=True)
    greatest = tf.reduce_max((near - least) * apart, 1, keepdims=True) + least
    both = tf.maximum(greatest, tf.transpose(greatest))
    terms = tf.exp(near[:, None, :] - both[:, :, None]) * apart[:, None, :]
    ours = tf.reduce_sum(terms, 2)
    soft = both + tf.math.log(ours + tf.transpose(ours))
    pairs = _pairs(same, distances.dtype)
    # Each pair is there twice.
    losses = tf.square(tf.maximum((soft + distances) * pairs, 0.0))
    halves = tf.reduce_sum(pairs) / 2.0
    return tf.math.truediv(0.25 * tf.reduce_sum(losses), halves, name="liftedstruct_loss")


def npairs_loss(
    labels: Any, embeddings_anchor: Any, embeddings_positive: Any, reg_lambda: float = 0.002, print_losses: bool = False
) -> Any:
    """The cross entropy of which second belongs to each first, and a penalty on lengths.

    Args:
        labels: of the classes of pairs, `[batch]`.
        embeddings_anchor: of the first of each pair; not normalised.
        embeddings_positive: of the second.
        reg_lambda: the weight of the penalty.
        print_losses: without effect: look at `losses` with a `Watch`.
    """
    classes = tf.reshape(labels, [-1, 1])
    same = tf.cast(tf.equal(classes, tf.transpose(classes)), tf.float32)
    return _npairs(same, embeddings_anchor, embeddings_positive, reg_lambda)


def npairs_loss_multilabel(
    sparse_labels: Sequence[Any],
    embeddings_anchor: Any,
    embeddings_positive: Any,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Any:
    """`npairs_loss` where a pair has several labels: pairs are as much alike as they have labels in common.

    Args:
        sparse_labels: a `SparseTensor` of 0 and 1 for each pair, `[classes]`.
        embeddings_anchor: of the first of each pair.
        embeddings_positive: of the second.
        reg_lambda: the weight of the penalty.
        print_losses: without effect.
    """
    if not all(isinstance(one, tf.SparseTensor) for one in sparse_labels):
        raise UsageError("npairs_loss_multilabel: sparse_labels must be a list of SparseTensors, one for each pair.")
    rows = [tf.reshape(tf.sparse.to_dense(one), [1, -1]) for one in sparse_labels]
    labels = tf.cast(tf.concat(rows, 0), tf.float32)
    return _npairs(tf.matmul(labels, labels, transpose_b=True), embeddings_anchor, embeddings_positive, reg_lambda)


def _npairs(same: Any, anchors: Any, positives: Any, weight: float) -> Any:
    penalty = tf.reduce_mean(tf.reduce_sum(tf.square(anchors), 1)) + tf.reduce_mean(
        tf.reduce_sum(tf.square(positives), 1)
    )
    truth = same / tf.reduce_sum(same, 1, keepdims=True)
    products = tf.matmul(anchors, positives, transpose_b=True)
    entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=truth, logits=products))
    return tf.add(penalty * 0.25 * weight, entropy)


def _same(labels: Any) -> Any:
    """Whether two examples are of one class, `[batch, batch]`."""
    classes = tf.reshape(labels, [-1, 1])
    return tf.equal(classes, tf.transpose(classes))


def _pairs(same: Any, dtype: Any) -> Any:
    """1 for two different examples of one class."""
    ones = tf.cast(same, dtype)
    return ones - tf.linalg.diag(tf.ones(tf.shape(ones)[:1], dtype))


def _distances(embeddings: Any, *, squared: bool) -> Any:
    """Distances of all pairs; those to oneself are 0, and none is negative."""
    values = tf.convert_to_tensor(embeddings)
    lengths = tf.reduce_sum(tf.square(values), 1, keepdims=True)
    found = lengths + tf.transpose(lengths) - 2.0 * tf.matmul(values, values, transpose_b=True)
    found = tf.maximum(found, 0.0)
    if not squared:
        # The slope of the root is not finite at 0.
        is_zero = tf.cast(found <= 0.0, found.dtype)
        found = tf.sqrt(found + is_zero * 1e-16) * (1.0 - is_zero)
    return found * (1.0 - tf.linalg.diag(tf.ones(tf.shape(found)[:1], found.dtype)))


def __getattr__(name: str) -> Any:
    if name == "cluster_loss":
        refuse(
            "tf.contrib.losses.metric_learning.cluster_loss is not offered: it searches for medoids in every step. "
            "Use triplet_semihard_loss or lifted_struct_loss, which train the same embeddings.",
            __name__,
            name,
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
