"""Programs over `tf.contrib.layers`, as people wrote them; see `playing.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.compat.contrib.playing import keeps_its_draws

X = np.random.RandomState(0).normal(size=[6, 4]).astype(np.float32)
IMAGES = np.random.RandomState(1).normal(size=[2, 6, 6, 3]).astype(np.float32)


def fully_connected(tf: Any) -> Any:
    return {"out": tf.contrib.layers.fully_connected(tf.constant(X), 3)}


def fully_connected_twice(tf: Any) -> Any:
    hidden = tf.contrib.layers.fully_connected(tf.constant(X), 5, tf.nn.tanh)
    out = tf.contrib.layers.fully_connected(hidden, num_outputs=2, activation_fn=None, biases_initializer=None)
    return {"hidden": hidden, "out": out}


def fully_connected_with_everything(tf: Any) -> Any:
    layers = tf.contrib.layers
    with tf.variable_scope("net"):
        out = layers.fully_connected(
            tf.constant(X),
            3,
            weights_regularizer=layers.l2_regularizer(0.1),
            biases_regularizer=layers.l1_regularizer(0.2),
            variables_collections={"weights": ["my_weights"], "biases": ["my_biases"]},
            outputs_collections="my_outputs",
            trainable=False,
            scope="logits",
        )
        again = layers.fully_connected(tf.constant(2 * X), 3, scope="logits", reuse=True)
    return {"out": out, "again": again}


def fully_connected_with_batch_norm(tf: Any) -> Any:
    layers = tf.contrib.layers
    out = layers.fully_connected(
        tf.constant(X),
        3,
        normalizer_fn=layers.batch_norm,
        normalizer_params={"is_training": True, "decay": 0.9, "scale": True},
        variables_collections=["my_variables"],
        scope="hidden",
    )
    return {"out": out, "train": tf.get_collection(tf.GraphKeys.UPDATE_OPS)}


def fully_connected_on_images(tf: Any) -> Any:
    return {"out": tf.contrib.layers.fully_connected(tf.constant(IMAGES), 2, activation_fn=None)}


def linear_and_relu(tf: Any) -> Any:
    layers = tf.contrib.layers
    linear, relu = layers.linear(tf.constant(X), 3), layers.relu(tf.constant(X), 3)
    return {"linear": linear, "relu": relu, "relu6": layers.relu6(linear, 2), "elu": layers.elu(linear, 2)}


def stacked_and_repeated(tf: Any) -> Any:
    layers = tf.contrib.layers
    stacked = layers.stack(tf.constant(X), layers.fully_connected, [5, 4], scope="fc")
    convolved = layers.repeat(tf.constant(IMAGES), 2, layers.conv2d, 4, [3, 3], scope="conv1")
    unnamed = layers.repeat(tf.constant(X), 2, layers.fully_connected, 3)
    more = layers.stack(tf.constant(IMAGES), layers.conv2d, [(4, [3, 3]), (2, [1, 1])])
    return {"stacked": stacked, "convolved": convolved, "unnamed": unnamed, "more": more}


def convolved(tf: Any) -> Any:
    layers, images = tf.contrib.layers, tf.constant(IMAGES)
    plain = layers.conv2d(images, 4, 3)
    strided = layers.conv2d(images, 4, [3, 2], stride=2, padding="VALID", activation_fn=None)
    dilated = layers.convolution2d(images, 2, 3, rate=2, biases_initializer=None, scope="dilated")
    lines = layers.conv1d(tf.constant(IMAGES[0]), 2, 3)
    volumes = layers.conv3d(tf.constant(IMAGES[None]), 2, 2)
    return {"plain": plain, "strided": strided, "dilated": dilated, "lines": lines, "volumes": volumes}


def convolved_with_batch_norm(tf: Any) -> Any:
    layers = tf.contrib.layers
    out = layers.conv2d(tf.constant(IMAGES), 4, 3, normalizer_fn=layers.batch_norm, normalizer_params={"decay": 0.5})
    return {"out": out, "train": tf.get_collection(tf.GraphKeys.UPDATE_OPS)}


def convolved_back(tf: Any) -> Any:
    layers, images = tf.contrib.layers, tf.constant(IMAGES)
    return {
        "same": layers.conv2d_transpose(images, 2, [3, 3], stride=2),
        "valid": layers.convolution2d_transpose(images, 2, 3, stride=2, padding="VALID", scope="up"),
    }


def convolved_by_parts(tf: Any) -> Any:
    layers, images = tf.contrib.layers, tf.constant(IMAGES)
    return {
        "both": layers.separable_conv2d(images, 4, [3, 3], depth_multiplier=2),
        "strided": layers.separable_conv2d(images, 4, [3, 3], 1, stride=2, normalizer_fn=layers.batch_norm),
        "depthwise": layers.separable_convolution2d(images, None, [3, 3], depth_multiplier=1, scope="depthwise"),
    }


def pooled(tf: Any) -> Any:
    layers, images = tf.contrib.layers, tf.constant(IMAGES)
    return {
        "max": layers.max_pool2d(images, 2),
        "average": layers.avg_pool2d(images, [3, 3], stride=1, padding="SAME"),
        "named": layers.max_pool2d(images, [2, 2], 2, scope="pool1", outputs_collections="my_pools"),
    }


def flattened(tf: Any) -> Any:
    layers = tf.contrib.layers
    return {
        "flat": layers.flatten(tf.constant(IMAGES)),
        "named": layers.flatten(tf.constant(X), outputs_collections=["my_flat"], scope="flat"),
        "one_hot": layers.one_hot_encoding(tf.constant([1, 0, 2]), 3, on_value=2.0, off_value=-1.0),
        "unit": layers.unit_norm(tf.constant(X), 1),
        "softmax": layers.softmax(tf.constant(IMAGES)),
        "maxout": layers.maxout(tf.constant(X), 2),
        "biased": layers.bias_add(tf.constant(IMAGES), activation_fn=tf.nn.relu),
    }


def dropped_out(tf: Any) -> Any:
    layers = tf.contrib.layers
    ones = tf.ones([4, 5])
    return {
        "kept": layers.dropout(ones, 0.4, is_training=False),
        "dropped": layers.dropout(ones, 0.4, seed=5),
        "rows": layers.dropout(ones, keep_prob=0.5, noise_shape=[4, 1], seed=6, scope="rows"),
        "decided": layers.dropout(ones, 0.4, is_training=tf.constant(False)),
    }


def _normalised(tf: Any, values: Any, **options: Any) -> Any:
    out = tf.contrib.layers.batch_norm(tf.constant(values), decay=0.9, **options)
    return {"out": out, "train": [out, *tf.get_collection(tf.GraphKeys.UPDATE_OPS)][:1]}


def batch_norm_of_rows(tf: Any) -> Any:
    made = _normalised(tf, X)
    made["train"] = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    return made


def batch_norm_of_images(tf: Any) -> Any:
    made = _normalised(tf, IMAGES, scale=True, activation_fn=tf.nn.relu, scope="bn", outputs_collections="my_norms")
    made["train"] = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    return made


def batch_norm_not_fused(tf: Any) -> Any:
    made = _normalised(tf, IMAGES, scale=True, fused=False)
    made["train"] = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    return made


def batch_norm_updated_in_place(tf: Any) -> Any:
    return _normalised(tf, X, updates_collections=None)


def batch_norm_of_images_updated_in_place(tf: Any) -> Any:
    return _normalised(tf, IMAGES, updates_collections=None, fused=False)


def batch_norm_not_trained(tf: Any) -> Any:
    made = _normalised(tf, IMAGES, trainable=False)
    tf.contrib.layers.batch_norm(tf.constant(X), trainable=False)
    return made


def batch_norm_in_reused_scopes(tf: Any) -> Any:
    layers, made = tf.contrib.layers, {}
    for number in range(2):
        with tf.variable_scope("net", reuse=number > 0):
            made[f"out_{number}"] = layers.batch_norm(tf.constant(IMAGES + number), scope="bn")
            made[f"rows_{number}"] = layers.batch_norm(tf.constant(X + number), is_training=False)
    return made


def batch_norm_with_channels_first(tf: Any) -> Any:
    images = np.transpose(IMAGES, [0, 3, 1, 2])
    return _normalised(tf, images, data_format="NCHW", fused=False, updates_collections=None)


def batch_norm_not_training(tf: Any) -> Any:
    return _normalised(tf, IMAGES, is_training=False, center=False, scale=True)


def batch_norm_with_a_tensor(tf: Any) -> Any:
    training, serving = tf.constant(True), tf.constant(False)
    layers = tf.contrib.layers
    rows = layers.batch_norm(tf.constant(X), decay=0.9, is_training=training, scope="rows")
    images = layers.batch_norm(tf.constant(IMAGES), decay=0.9, is_training=training, scope="images", fused=False)
    served = layers.batch_norm(tf.constant(IMAGES), decay=0.9, is_training=serving, scope="served")
    in_place = layers.batch_norm(
        tf.constant(X), decay=0.9, is_training=training, scope="in_place", updates_collections=None
    )
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    return {"rows": rows, "images": images, "served": served, "train": [in_place, updates]}


def batch_norm_with_regularizers(tf: Any) -> Any:
    return _normalised(
        tf,
        X,
        scale=True,
        param_regularizers={"beta": tf.contrib.layers.l2_regularizer(0.3)},
        param_initializers={"gamma": tf.constant_initializer(2.0)},
        variables_collections={"moving_mean": ["my_means"], "beta": ["my_betas"]},
        updates_collections="updates of mine",
    )


@keeps_its_draws
def batch_norm_without_bias(tf: Any) -> Any:
    made = _normalised(tf, X, zero_debias_moving_mean=True, scope="bn")
    made["train"] = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    return made


def batch_norm_with_weights(tf: Any) -> Any:
    weights = tf.constant(np.arange(1.0, 7.0, dtype=np.float32))
    made = _normalised(tf, X, batch_weights=weights)
    made["train"] = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    return made


def batch_norm_renormalised(tf: Any) -> Any:
    made = _normalised(tf, X, renorm=True, renorm_decay=0.8, renorm_clipping={"rmax": 3.0, "rmin": 0.3, "dmax": 5.0})
    made["train"] = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    return made


def regularizers(tf: Any) -> Any:
    layers, weights = tf.contrib.layers, tf.constant(X)
    one, two, both = layers.l1_regularizer(0.1), layers.l2_regularizer(0.1), layers.l1_l2_regularizer(0.1, 0.3)
    variable = tf.get_variable("w", [3, 2], regularizer=two)
    return {
        "l1": one(weights),
        "l2": two(weights),
        "both": both(weights),
        "sum": layers.sum_regularizer([one, two, None])(weights),
        "applied": layers.apply_regularization(two, [variable, weights]),
        "only_l1": layers.l1_l2_regularizer(scale_l1=0.2, scale_l2=0.0)(weights),
    }


@keeps_its_draws
def initializers(tf: Any) -> Any:
    layers = tf.contrib.layers
    makers = {
        "variance_default": layers.variance_scaling_initializer(seed=7),
        "variance_average": layers.variance_scaling_initializer(1.0, "FAN_AVG", uniform=True, seed=3),
        "variance_out": layers.variance_scaling_initializer(factor=1.43, mode="FAN_OUT", seed=4),
        "xavier": layers.xavier_initializer(seed=1),
        "xavier_normal": layers.xavier_initializer(uniform=False, seed=2),
        "xavier_conv2d": layers.xavier_initializer_conv2d(seed=9),
    }
    made = {name: tf.get_variable(name, [3, 3, 4, 5], initializer=maker) for name, maker in makers.items()}
    made["vector"] = tf.get_variable("vector", [7], initializer=layers.xavier_initializer(seed=8))
    return made


IDS = np.array([[1, 2, 1], [0, 4, 3]])


def encoders(tf: Any) -> Any:
    layers, ids = tf.contrib.layers, tf.constant(IDS)
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 4], [2, 3])
    made = {
        "sequence": layers.embed_sequence(ids, 5, 2),
        "unique": layers.embed_sequence(ids, vocab_size=5, embed_dim=3, unique=True, scope="unique"),
        "bag": layers.bow_encoder(ids, 5, 2),
        "plain_bag": layers.bow_encoder(ids, 5, 2, sparse_lookup=False, scope="plain"),
        "sparse_bag": layers.bow_encoder(sparse, 5, 2, scope="sparse"),
    }
    made["again"] = layers.embed_sequence(
        ids, 5, 2, scope="EmbedSequence", reuse=True, regularizer=layers.l2_regularizer(1.0)
    )
    return made


def embeddings(tf: Any) -> Any:
    layers = tf.contrib.layers
    table = tf.get_variable("table", [5, 2])
    halves = [tf.get_variable("half_0", [3, 2]), tf.get_variable("half_1", [2, 2])]
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 2, -1], tf.int64), [4, 2])
    weights = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([0.5, 2.0, 1.0]), [4, 2])
    return {
        "unique": layers.embedding_lookup_unique(table, tf.constant(IDS)),
        "pieces": layers.embedding_lookup_unique(halves, tf.constant(IDS)),
        "safe": layers.safe_embedding_lookup_sparse([table], ids),
        "weighted": layers.safe_embedding_lookup_sparse([table], ids, weights, combiner="sum", default_id=4),
        "several": layers.safe_embedding_lookup_sparse(halves, ids, combiner="sqrtn", max_norm=0.3),
    }


def arguments_in_scopes(tf: Any) -> Any:
    layers, framework = tf.contrib.layers, tf.contrib.framework
    with framework.arg_scope([layers.conv2d, layers.fully_connected], activation_fn=None, biases_initializer=None):
        with framework.arg_scope([layers.conv2d], padding="VALID", stride=2) as scope:
            outer = layers.conv2d(tf.constant(IMAGES), 2, 3)
        own = layers.conv2d(tf.constant(IMAGES), 2, 3, activation_fn=tf.nn.relu)
        rows = layers.fully_connected(tf.constant(X), 2)
    with framework.arg_scope(scope):
        again = layers.conv2d(tf.constant(IMAGES), 2, 3)
    plain = layers.conv2d(tf.constant(IMAGES), 2, 3)
    return {"outer": outer, "own": own, "rows": rows, "again": again, "plain": plain}


PROGRAMS: dict[str, Any] = {
    one.__name__: one
    for one in (
        fully_connected,
        fully_connected_twice,
        fully_connected_with_everything,
        fully_connected_with_batch_norm,
        fully_connected_on_images,
        linear_and_relu,
        stacked_and_repeated,
        convolved,
        convolved_with_batch_norm,
        convolved_back,
        convolved_by_parts,
        pooled,
        flattened,
        dropped_out,
        batch_norm_of_rows,
        batch_norm_of_images,
        batch_norm_not_fused,
        batch_norm_updated_in_place,
        batch_norm_of_images_updated_in_place,
        batch_norm_not_trained,
        batch_norm_in_reused_scopes,
        batch_norm_with_channels_first,
        batch_norm_not_training,
        batch_norm_with_a_tensor,
        batch_norm_with_regularizers,
        batch_norm_without_bias,
        batch_norm_with_weights,
        batch_norm_renormalised,
        regularizers,
        initializers,
        encoders,
        embeddings,
        arguments_in_scopes,
    )
}
