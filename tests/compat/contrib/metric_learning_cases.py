"""Cases of `tf.contrib.losses.metric_learning`, for TensorFlow 1.15 and for Lightwell."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tests.compat.contrib.same import inputs

CLASSES = [0, 1, 0, 2, 1, 0, 2, 3]


def _told(contrib: Any, name: str, labels: Any, *embeddings: Any, **options: Any) -> Any:
    function = getattr(contrib.losses.metric_learning, name)
    points = [tf.constant(one) for one in embeddings]
    loss = function(labels, *points, **options)
    return {"loss": loss, "gradients": tf.gradients(loss, points)}


def _unit() -> Any:
    return tf.nn.l2_normalize(tf.constant(inputs(8, 4)), 1)


def triplets(contrib: Any) -> Any:
    labels = tf.constant(CLASSES)
    unit = _told(contrib, "triplet_semihard_loss", labels, inputs(8, 4), margin=0.4)
    plain = contrib.losses.metric_learning.triplet_semihard_loss(labels, _unit())
    return {**unit, "plain": plain}


def contrastive(contrib: Any) -> Any:
    labels = tf.constant([1, 0, 0, 1, 1, 0, 1, 0])
    return _told(contrib, "contrastive_loss", labels, inputs(8, 4), inputs(8, 4, seed=1), margin=2.0)


def lifted(contrib: Any) -> Any:
    return _told(contrib, "lifted_struct_loss", tf.constant(CLASSES), inputs(8, 4) * 3, margin=1.5)


def pairs(contrib: Any) -> Any:
    return _told(contrib, "npairs_loss", tf.constant(CLASSES), inputs(8, 4), inputs(8, 4, seed=1))


def pairs_of_many_labels(contrib: Any) -> Any:
    rows = [[0], [1], [0, 2], [2], [1, 2], [0]]
    labels = [tf.SparseTensor([[one] for one in row], [1] * len(row), [3]) for row in rows]
    return _told(contrib, "npairs_loss_multilabel", labels, inputs(6, 4), inputs(6, 4, seed=1), reg_lambda=0.1)


CASES = {
    "contrastive": contrastive,
    "lifted": lifted,
    "pairs": pairs,
    "pairs_of_many_labels": pairs_of_many_labels,
    "triplets": triplets,
}
