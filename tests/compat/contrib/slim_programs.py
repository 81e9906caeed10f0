"""Programs over `tf.contrib.slim`, and over what only the package `tf_slim` carries on; see `playing.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

_DRAWS = np.random.RandomState(0)
X = _DRAWS.normal(size=[6, 4]).astype(np.float32)
IMAGES = _DRAWS.normal(size=[2, 6, 6, 4]).astype(np.float32)
SHARES = _DRAWS.uniform(0.1, 0.9, size=[8]).astype(np.float32)
TRUTH = (SHARES + _DRAWS.normal(0, 0.3, size=[8]) > 0.5).astype(np.int64)


def net(tf: Any) -> Any:
    slim = tf.contrib.slim
    normalised = {"is_training": True, "decay": 0.9, "updates_collections": tf.GraphKeys.UPDATE_OPS}
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        weights_regularizer=slim.l2_regularizer(0.01),
        normalizer_fn=slim.batch_norm,
        normalizer_params=normalised,
    ):
        with slim.arg_scope([slim.conv2d], padding="VALID") as scope:
            hidden = slim.conv2d(tf.constant(IMAGES), 3, [3, 3], scope="conv1")
            hidden = slim.max_pool2d(hidden, [2, 2], scope="pool1")
        hidden = slim.flatten(hidden)
        out = slim.fully_connected(hidden, 2, activation_fn=None, normalizer_fn=None, scope="logits")
    slim.losses.mean_squared_error(out, tf.ones([2, 2]))
    assert len(scope) >= 2
    total = slim.losses.get_total_loss()
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train = slim.learning.create_train_op(total, optimizer, clip_gradient_norm=0.5, summarize_gradients=True)
    return {"out": out, "total": total, "train": train}


def layers_of_the_package(tf: Any) -> Any:
    slim, images = tf.contrib.slim, tf.constant(IMAGES)
    return {
        "instance_norm": slim.instance_norm(images),
        "group_norm": slim.group_norm(images, groups=2),
        "in_plane": slim.conv2d_in_plane(images, 3),
        "up": slim.conv3d_transpose(tf.constant(IMAGES[None]), 2, 2, stride=2),
        "spatial_softmax": slim.spatial_softmax(images),
        "pool": slim.pool(images, [2, 2], "AVG", stride=2),
        "sequence": slim.images_to_sequence(images),
        "old": slim.legacy_fully_connected(tf.constant(X), 2),
        "small": slim.scale_gradient(tf.constant(X), 0.5),
    }


def metrics_of_the_package(tf: Any) -> Any:
    metrics, shares, truth = tf.contrib.metrics, tf.constant(SHARES), tf.constant(TRUTH)
    made = {
        "covariance": metrics.streaming_covariance(shares, tf.cast(truth, tf.float32)),
        "correlation": metrics.streaming_pearson_correlation(shares, tf.cast(truth, tf.float32)),
        "f1": metrics.f1_score(truth, shares),
        "count": metrics.count(shares),
        "kappa": metrics.cohen_kappa(truth, tf.cast(shares > 0.5, tf.int64), 2),
        "misses": metrics.streaming_false_negative_rate(shares > 0.5, truth > 0),
        "recall_at": metrics.recall_at_precision(truth, shares, 0.5),
        "alarms": metrics.streaming_false_positive_rate_at_thresholds(shares, truth > 0, [0.3, 0.6]),
        "whole": metrics.streaming_concat(shares),
    }
    return {"train": [update for _, update in made.values()]}


def distances_of_the_package(tf: Any) -> Any:
    learned, rows = tf.contrib.losses.metric_learning, tf.constant(X)
    labels = tf.constant([0, 1, 0, 1, 1, 0])
    return {
        "triplet": learned.triplet_semihard_loss(labels, rows),
        "pairs": learned.npairs_loss(labels, rows, rows + 0.5),
        "contrastive": learned.contrastive_loss(labels, rows, rows + 0.5),
        "lifted": learned.lifted_struct_loss(labels, rows),
    }


PROGRAMS: dict[str, Any] = {
    one.__name__: one for one in (net, layers_of_the_package, metrics_of_the_package, distances_of_the_package)
}
