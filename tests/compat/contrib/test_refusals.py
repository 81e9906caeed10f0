"""What layers, scopes and training steps of `tf.contrib` say where an argument does not fit."""

from __future__ import annotations

from typing import Any

import pytest

from lightwell import tf1 as tf

layers, framework, losses = tf.contrib.layers, tf.contrib.framework, tf.contrib.losses


def _images() -> Any:
    return tf.ones([2, 5, 5, 1])


def _step(**given: Any) -> Any:
    weight = tf.get_variable("w", [2])
    arguments = {"learning_rate": 0.1, "optimizer": "SGD", **given}
    return layers.optimize_loss(tf.reduce_sum(weight * weight), tf.train.create_global_step(), **arguments)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda: layers.l2_regularizer(1), "scale cannot be an integer: 1"),
        (lambda: layers.l1_regularizer(-1.0), "Setting a scale less than 0 on a regularizer"),
        (lambda: layers.apply_regularization(layers.l2_regularizer(0.1), []), "No weights to regularize"),
        (lambda: layers.variance_scaling_initializer(mode="x"), "Unknown mode x"),
        (lambda: layers.xavier_initializer(dtype=tf.int32), "Cannot create initializer for non-floating"),
        (lambda: layers.fully_connected(tf.ones([2, 2]), 2.5), "num_outputs type should be one of"),
        (lambda: layers.fully_connected(tf.placeholder(tf.float32, [2, None]), 2), "last dimension of the inputs"),
        (lambda: layers.conv2d(tf.ones([2, 2]), 2, 3), "expects input with rank 4, got 2"),
        (lambda: layers.convolution(tf.ones([2, 2]), 2, 3), "not supported for input with rank 2"),
        (lambda: layers.conv2d(_images(), 2, 3, stride=2, rate=2), "strides > 1 not supported in conjunction"),
        (lambda: layers.conv2d(_images(), 2, 3, data_format="x"), "data_format has to be either NHWC or NCHW"),
        (lambda: layers.conv2d(_images(), 2, [3, 3, 3]), "kernel_size must be one number or 2 numbers"),
        (lambda: layers.conv2d_transpose(_images(), 2, 3, padding="x"), "padding must be SAME or VALID"),
        (lambda: layers.max_pool2d(tf.ones([2, 2]), 2), "expected inputs of rank 4"),
        (lambda: layers.batch_norm(tf.placeholder(tf.float32)), "has undefined rank"),
        (lambda: layers.batch_norm(tf.placeholder(tf.float32, [2, None])), "undefined channels dimension"),
        (lambda: layers.batch_norm(_images(), data_format="x"), "data_format has to be either NCHW or NHWC"),
        (lambda: layers.batch_norm(tf.ones([2, 2]), renorm=True, updates_collections=None), "renorm is not supported"),
        (lambda: layers.bias_add(_images(), data_format="x"), "data_format has to be either"),
        (lambda: layers.flatten(tf.placeholder(tf.float32)), "must have a known rank"),
        (lambda: layers.unit_norm(tf.ones([2, 3]), 4), "dim must be positive but smaller than the input rank"),
        (lambda: layers.maxout(tf.ones([2, 3]), 2), r"number of features\(3\) is not a multiple"),
        (lambda: layers.stack(tf.ones([2, 3]), layers.fully_connected, 3), "stack_args need to be a list or tuple"),
        (lambda: layers.embed_sequence(tf.ones([2, 2], tf.int32)), "Must specify vocab size and embedding dimension"),
        (
            lambda: layers.bow_encoder(tf.SparseTensor([[0, 0]], [1], [1, 1]), 2, 2, sparse_lookup=False),
            "ids are expected to be dense Tensor",
        ),
        (lambda: framework.arg_scope(3).__enter__(), "must either be a list/tuple .* or reused scope"),
        (lambda: framework.arg_scope([len]).__enter__(), "len is not decorated with @add_arg_scope"),
        (lambda: framework.arg_scope({}, a=3).__enter__(), "kwargs must be empty"),
        (lambda: framework.arg_scoped_arguments(len), "is not decorated with @add_arg_scope"),
        (lambda: framework.get_unique_variable("w"), "Couldn't find variable w"),
        (lambda: framework.get_variables_to_restore(include="w"), "include must be a list or a tuple"),
        (lambda: framework.assign_from_checkpoint_fn("path", []), "var_list cannot be empty"),
        (lambda: framework.with_shape([3], tf.ones([2])), "Invalid shape for tensor"),
        (lambda: framework.assert_global_step(tf.ones([])), "does not have integer type"),
        (lambda: framework.smart_cond("maybe", lambda: 1, lambda: 2), "`pred` must be a Tensor"),
        (lambda: losses.cosine_distance(tf.ones([2, 2]), tf.ones([2, 2])), "You must specify 'axis'"),
        (lambda: losses.mean_squared_error(tf.ones([2, 2]), tf.ones([2, 3])), "are incompatible"),
        (lambda: losses.compute_weighted_loss(tf.ones([2]), tf.ones([2, 3])), "do not fit losses of shape"),
        (lambda: tf.contrib.metrics.accuracy(tf.ones([2]), tf.ones([2])), "Labels should have bool, integer"),
        (lambda: tf.contrib.image.rotate(tf.ones([2]), 1.0), "Images should have rank between 2 and 4"),
        (lambda: tf.contrib.image.transform(tf.ones([2, 2], tf.bool), [1.0] * 8), "Invalid dtype"),
        (lambda: tf.contrib.image.transform(tf.ones([2, 2]), 1.0), "Transforms should have rank 1 or 2"),
        (lambda: tf.contrib.image.compose_transforms(), "transforms cannot be empty"),
        (lambda: tf.contrib.image.dense_image_warp(tf.ones([1, 1, 2, 1]), tf.ones([1, 1, 2, 2])), "at least 2"),
        (lambda: _step(learning_rate=-1.0), "Invalid learning_rate -1.0"),
        (lambda: _step(learning_rate="a"), "Learning rate should be 0d Tensor or float"),
        (lambda: _step(learning_rate=None), r"should be specified if optimizer is string \(SGD\)"),
        (lambda: _step(learning_rate=None, optimizer=tf.train.AdamOptimizer), "if optimizer is class"),
        (lambda: _step(optimizer="Nope"), "Optimizer name should be one of .*you provided Nope"),
        (lambda: _step(optimizer=3), "Unrecognized optimizer: should be string"),
        (lambda: _step(optimizer=lambda rate: 4), "function should return subclass of Optimizer"),
        (lambda: _step(summaries=["nope"]), "Summaries should be one of"),
        (lambda: _step(clip_gradients="a"), "Unknown type .* for clip_gradients"),
        (lambda: layers.optimize_loss(tf.ones([2]), None, 0.1, "SGD"), "Expected scalar shape for the loss"),
    ],
)
def test_what_does_not_fit_is_refused(wrong: Any, text: str) -> None:
    with tf.Graph().as_default(), pytest.raises((ValueError, TypeError), match=text):
        wrong()
