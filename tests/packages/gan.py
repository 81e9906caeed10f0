"""Trains tensorflow-gan's GANEstimator on points around (3, 3), and prints what it evaluates to."""

import inspect
import json
import sys
from collections import namedtuple

import lightwell

# Python 3.11 took away what tensorflow-gan asks of it; that is no matter of tf.estimator.
Arguments = namedtuple("Arguments", "args varargs keywords defaults")
inspect.getargspec = lambda function: Arguments(*inspect.getfullargspec(function)[:4])
lightwell.install()
import tensorflow as tf  # noqa: E402
import tensorflow_gan as tfgan  # noqa: E402

v1 = tf.compat.v1


def generator(noise, mode):
    return v1.layers.dense(v1.layers.dense(noise, 16, activation=tf.nn.relu), 2)


def discriminator(points, conditioning, mode):
    return v1.layers.dense(v1.layers.dense(points, 16, activation=tf.nn.relu), 1)


def input_fn(mode, params):
    def batch(_):
        return tf.random.normal([32, 4]), tf.random.normal([32, 2]) * 0.1 + 3.0

    return tf.data.Dataset.range(200).map(batch)


estimator = tfgan.estimator.GANEstimator(
    sys.argv[1],
    generator_fn=generator,
    discriminator_fn=discriminator,
    generator_loss_fn=tfgan.losses.wasserstein_generator_loss,
    discriminator_loss_fn=tfgan.losses.wasserstein_discriminator_loss,
    generator_optimizer=v1.train.AdamOptimizer(1e-3),
    discriminator_optimizer=v1.train.AdamOptimizer(1e-3),
)
estimator.train(input_fn, steps=50)
metrics = estimator.evaluate(input_fn, steps=5)
row = next(iter(estimator.predict(input_fn)))
found = {"metrics": sorted(metrics), "steps": int(metrics["global_step"]), "row": list(row.shape)}
print(json.dumps(found))
