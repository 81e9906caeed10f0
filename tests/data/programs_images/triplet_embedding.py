"""Embeddings with triplet losses: batch all, batch hard, and metric_learning of tf.contrib; Params from json; embeddings to npz."""
import argparse
import json
import logging
import os
import numpy as np
import tensorflow as tf
from tensorflow.contrib.losses import metric_learning
from tensorflow.contrib.losses.python.metric_learning.metric_loss_ops import triplet_semihard_loss


class Params():
    """Class that loads hyperparameters from a json file."""

    def __init__(self, json_path):
        self.update(json_path)

    def update(self, json_path):
        with open(json_path) as f:
            self.__dict__.update(json.load(f))

    @property
    def dict(self):
        return self.__dict__


def _pairwise_distances(embeddings, squared=False):
    dot_product = tf.matmul(embeddings, tf.transpose(embeddings))
    square_norm = tf.diag_part(dot_product)
    distances = tf.expand_dims(square_norm, 0) - 2.0 * dot_product + tf.expand_dims(square_norm, 1)
    distances = tf.maximum(distances, 0.0)
    if not squared:
        mask = tf.to_float(tf.equal(distances, 0.0))
        distances = tf.sqrt(distances + mask * 1e-16) * (1.0 - mask)
    return distances


def batch_all_triplet_loss(labels, embeddings, margin):
    d = _pairwise_distances(embeddings, True)
    loss = tf.expand_dims(d, 2) - tf.expand_dims(d, 1) + margin
    indices_not_equal = tf.logical_not(tf.cast(tf.eye(tf.shape(labels)[0]), tf.bool))
    distinct = tf.logical_and(tf.logical_and(tf.expand_dims(indices_not_equal, 2), tf.expand_dims(indices_not_equal, 1)), tf.expand_dims(indices_not_equal, 0))
    same = tf.equal(tf.expand_dims(labels, 0), tf.expand_dims(labels, 1))
    valid = tf.logical_and(tf.expand_dims(same, 2), tf.logical_not(tf.expand_dims(same, 1)))
    mask = tf.to_float(tf.logical_and(distinct, valid))
    loss = tf.maximum(tf.multiply(mask, loss), 0.0)
    positive = tf.reduce_sum(tf.to_float(tf.greater(loss, 1e-16)))
    return tf.reduce_sum(loss) / (positive + 1e-16), positive / (tf.reduce_sum(mask) + 1e-16)


def batch_hard_triplet_loss(labels, embeddings, margin):
    d = _pairwise_distances(embeddings)
    same = tf.to_float(tf.equal(tf.expand_dims(labels, 0), tf.expand_dims(labels, 1)))
    hardest_positive = tf.reduce_max(d * same, axis=1, keepdims=True)
    hardest_negative = tf.reduce_min(d + tf.reduce_max(d, axis=1, keepdims=True) * same, axis=1, keepdims=True)
    return tf.reduce_mean(tf.maximum(hardest_positive - hardest_negative + margin, 0.0))


def model_fn(features, labels, mode, params):
    is_training = (mode == tf.estimator.ModeKeys.TRAIN)
    images = tf.reshape(features, [-1, params.image_size, params.image_size, 1])
    assert images.shape[1:] == [params.image_size, params.image_size, 1], "{}".format(images.shape)
    with tf.variable_scope('model'):
        out = images
        for i, c in enumerate([params.num_channels, params.num_channels * 2]):
            with tf.variable_scope('block_{}'.format(i + 1)):
                out = tf.layers.conv2d(out, c, 3, padding='same', use_bias=not params.use_batch_norm, kernel_initializer=tf.glorot_uniform_initializer(seed=i))
                if params.use_batch_norm:
                    out = tf.layers.batch_normalization(out, momentum=params.bn_momentum, training=is_training)
                out = tf.layers.max_pooling2d(tf.nn.relu(out), 2, 2)
        embeddings = tf.layers.dense(tf.reshape(out, [-1, 2 * 2 * params.num_channels * 2]), params.embedding_size, kernel_initializer=tf.glorot_uniform_initializer(seed=5), name='fc_1')
    embedding_mean_norm = tf.reduce_mean(tf.norm(embeddings, axis=1))
    tf.summary.scalar("embedding_mean_norm", embedding_mean_norm)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode=mode, predictions={'embeddings': embeddings})
    labels = tf.cast(labels, tf.int64)
    loss, fraction = batch_all_triplet_loss(labels, embeddings, params.margin)
    hard = batch_hard_triplet_loss(labels, embeddings, params.margin)
    normalized = tf.nn.l2_normalize(embeddings, 1)
    semihard = triplet_semihard_loss(labels, normalized, margin=params.margin)
    lifted = metric_learning.lifted_struct_loss(labels, normalized, margin=1.0)
    npairs = metric_learning.npairs_loss(labels, embeddings, embeddings * .9, reg_lambda=.002)
    contrastive = metric_learning.contrastive_loss(labels[:4] % 2, normalized[:4], normalized[4:8])
    loss = loss + hard + semihard + .1 * lifted + .1 * npairs + .1 * contrastive
    if mode == tf.estimator.ModeKeys.EVAL:
        with tf.variable_scope("metrics"):
            ops = {"embedding_mean_norm": tf.metrics.mean(embedding_mean_norm), "fraction": tf.metrics.mean(fraction), "hard": tf.metrics.mean(hard), "semihard": tf.metrics.mean(semihard), "lifted": tf.metrics.mean(lifted), "npairs": tf.metrics.mean(npairs)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=ops)
    global_step = tf.train.get_global_step()
    optimizer = tf.train.AdamOptimizer(params.learning_rate)
    if params.use_batch_norm:
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.minimize(loss, global_step=global_step)
    else:
        train_op = optimizer.minimize(loss, global_step=global_step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(params, epochs):
    rng = np.random.RandomState(3)
    y = np.arange(48) % 4
    x = rng.rand(48, 8, 8).astype(np.float32) * .5
    for i in range(48):
        x[i, y[i] * 2:y[i] * 2 + 2] += .8
    images, labels = tf.data.Dataset.from_tensor_slices(x.reshape(48, 64)), tf.data.Dataset.from_tensor_slices(y)
    return tf.data.Dataset.zip((images, labels)).repeat(epochs).batch(params.batch_size).prefetch(1)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--model_dir', default='experiments/base_model', help="Experiment directory containing params.json")
    tf.reset_default_graph()
    tf.logging.set_verbosity(tf.logging.ERROR)
    args = parser.parse_args()
    os.makedirs(args.model_dir, exist_ok=True)
    json_path = os.path.join(args.model_dir, 'params.json')
    with open(json_path, 'w') as f:
        json.dump(dict(image_size=8, num_channels=4, use_batch_norm=True, bn_momentum=.9, embedding_size=5, margin=.5, learning_rate=.001, batch_size=12), f)
    params = Params(json_path)
    config = tf.estimator.RunConfig(tf_random_seed=230, model_dir=args.model_dir, save_summary_steps=10)
    estimator = tf.estimator.Estimator(model_fn, params=params, config=config)
    estimator.train(lambda: input_fn(params, 2))
    res = estimator.evaluate(lambda: input_fn(params, 1))
    embeddings = np.zeros((48, params.embedding_size))
    for i, p in enumerate(estimator.predict(lambda: input_fn(params, 1))):
        embeddings[i] = p['embeddings']
    np.savez(os.path.join(args.model_dir, 'embeddings.npz'), embeddings)
    print(json.dumps({'res': {k: float(v) for k, v in res.items()}, 'norm': float(np.linalg.norm(embeddings))}))
