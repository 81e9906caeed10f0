from models import registry
from models.registry import register
import tensorflow as tf


@register("mlp")
def model_fn(features, labels, mode, params):
    net = tf.feature_column.input_layer(features, [tf.feature_column.numeric_column("x", shape=[3])])
    for number in range(params["layers"]):
        net = tf.layers.dense(
            net, params["units"], activation=getattr(tf.nn, params["activation"]),
            kernel_initializer=tf.glorot_uniform_initializer(seed=number), name="layer_%d" % number)
    output = tf.layers.dense(net, 1, kernel_initializer=tf.glorot_uniform_initializer(seed=7), name="output")
    assert params["units"] == registry.DEFAULTS["units"]
    loss = tf.losses.mean_squared_error(labels, output)
    train_op = tf.train.ProximalGradientDescentOptimizer(0.05).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, {"y": output}, loss, train_op, {"mae": tf.metrics.mean_absolute_error(labels, output)})
