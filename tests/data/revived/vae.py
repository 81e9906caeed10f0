"""A variational autoencoder with conv layers, the reparameterisation trick, KL warm-up, tf.image and tf.distributions."""

import json
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
LATENT = 2


def encoder(x):
    with tf.variable_scope("encoder", initializer=tf.glorot_uniform_initializer(seed=1)):
        net = tf.layers.conv2d(x, 4, 3, strides=2, padding="same", activation=tf.nn.elu)
        net = tf.layers.flatten(net)
        mean = tf.layers.dense(net, LATENT, name="mean")
        log_sigma = tf.layers.dense(net, LATENT, name="log_sigma")
        return mean, log_sigma


def decoder(z):
    with tf.variable_scope("decoder", reuse=tf.AUTO_REUSE, initializer=tf.glorot_uniform_initializer(seed=2)):
        net = tf.reshape(tf.layers.dense(z, 4 * 4 * 4, tf.nn.elu), [-1, 4, 4, 4])
        return tf.layers.conv2d_transpose(net, 1, 3, strides=2, padding="same")


def model_fn(features, labels, mode, params):
    x = features["image"]
    mean, log_sigma = encoder(x)
    noise = tf.random_normal(tf.shape(mean), seed=5)
    z = mean + tf.exp(log_sigma) * noise if mode == tf.estimator.ModeKeys.TRAIN else mean
    logits = decoder(z)
    bernoulli = tf.distributions.Bernoulli(logits=logits)
    predictions = {"z": z, "image": bernoulli.mean()}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions)
    likelihood = tf.reduce_sum(bernoulli.log_prob(x), [1, 2, 3])
    divergence = -0.5 * tf.reduce_sum(1 + 2 * log_sigma - tf.square(mean) - tf.exp(2 * log_sigma), 1)
    prior = tf.distributions.Normal(tf.zeros([LATENT]), tf.ones([LATENT]))
    posterior = tf.distributions.Normal(mean, tf.exp(log_sigma))
    same = tf.reduce_sum(tf.distributions.kl_divergence(posterior, prior), 1)
    warm = tf.minimum(1.0, tf.to_float(tf.train.get_global_step()) / 5.0)
    loss = tf.reduce_mean(-likelihood + warm * divergence)
    tf.summary.image("reconstruction", tf.image.resize_images(predictions["image"], [16, 16]))
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss, tf.train.get_global_step())
    metrics = {"elbo": tf.metrics.mean(likelihood - divergence), "kl_difference": tf.metrics.mean(tf.abs(same - divergence))}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def input_fn(epochs=1):
    images = (np.random.RandomState(3).uniform(0, 1, [12, 8, 8, 1]) > 0.5).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices({"image": images}).map(lambda row: (row, 0)).repeat(epochs).batch(6)


vae = tf.estimator.Estimator(model_fn, sys.argv[1], tf.estimator.RunConfig(tf_random_seed=4))
vae.train(lambda: input_fn(None), steps=8)
metrics = vae.evaluate(input_fn)
rows = list(vae.predict(input_fn))
print(json.dumps({"metrics": {k: float(v) for k, v in metrics.items()}, "z": rows[0]["z"].tolist(), "shape": list(rows[0]["image"].shape)}))
