"""A GAN in one model_fn: two networks by scope, two optimizers by var_list, trained in turn by control dependencies."""

import json
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)


def generator(z, reuse=False):
    with tf.variable_scope("generator", reuse=reuse, initializer=tf.glorot_uniform_initializer(seed=1)):
        net = tf.layers.dense(z, 8, activation=tf.nn.leaky_relu, name="g1")
        return tf.layers.dense(net, 2, name="g2")


def discriminator(x, reuse=False):
    with tf.variable_scope("discriminator", reuse=reuse, initializer=tf.glorot_uniform_initializer(seed=2)):
        net = tf.layers.dense(x, 8, activation=tf.nn.leaky_relu, name="d1")
        return tf.layers.dense(net, 1, name="d2")


def model_fn(features, labels, mode, params):
    z = features["noise"]
    fake = generator(z)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"fake": fake})
    real = labels
    on_real, on_fake = discriminator(real), discriminator(fake, reuse=True)
    d_loss = tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(logits=on_real, labels=tf.ones_like(on_real) * 0.9)
        + tf.nn.sigmoid_cross_entropy_with_logits(logits=on_fake, labels=tf.zeros_like(on_fake))
    )
    g_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=on_fake, labels=tf.ones_like(on_fake)))
    t_vars = tf.trainable_variables()
    d_vars = [var for var in t_vars if var.name.startswith("discriminator")]
    g_vars = [var for var in t_vars if var.name.startswith("generator")]
    global_step = tf.train.get_or_create_global_step()
    d_optimizer = tf.train.AdamOptimizer(0.01, beta1=0.5, name="d_adam")
    g_optimizer = tf.train.AdamOptimizer(0.01, beta1=0.5, name="g_adam")
    d_gradients = d_optimizer.compute_gradients(d_loss, var_list=d_vars)
    g_gradients = g_optimizer.compute_gradients(g_loss, var_list=g_vars)
    with tf.control_dependencies([gradient for gradient, _ in d_gradients + g_gradients]):
        d_op = d_optimizer.apply_gradients(d_gradients)
    with tf.control_dependencies([d_op]):
        g_op = g_optimizer.apply_gradients(g_gradients, global_step=global_step)
    with tf.control_dependencies([g_op]):
        clip = [tf.assign(var, tf.clip_by_value(var, -2.0, 2.0)) for var in d_vars]
    tf.summary.scalar("d_loss", d_loss)
    tf.summary.scalar("g_loss", g_loss)
    hooks = [tf.train.LoggingTensorHook({"d": d_loss, "g": g_loss}, every_n_iter=5)]
    return tf.estimator.EstimatorSpec(
        mode, loss=d_loss + g_loss, train_op=tf.group(*clip), training_hooks=hooks,
        eval_metric_ops={"d_loss": tf.metrics.mean(d_loss), "g_loss": tf.metrics.mean(g_loss)},
    )


def input_fn(epochs=1):
    random = np.random.RandomState(9)
    noise = random.uniform(-1, 1, [32, 3]).astype(np.float32)
    real = (random.randn(32, 2) * 0.2 + [1.0, -1.0]).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"noise": noise}, real)).repeat(epochs).batch(16)


gan = tf.estimator.Estimator(model_fn, sys.argv[1], params={})
gan.train(lambda: input_fn(None), steps=12)
metrics = gan.evaluate(input_fn)
fakes = np.array([row["fake"] for row in gan.predict(input_fn)])
print(json.dumps({"metrics": {k: float(v) for k, v in metrics.items()}, "center": fakes.mean(0).tolist(),
                  "slots": sorted(name for name in gan.get_variable_names() if "adam" in name and "d2" in name)}))
