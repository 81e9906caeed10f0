"""Stacked hourglass for key points: heat maps by py_func-free Gaussians, intermediate supervision, argmax to coordinates, PCK metric, export with RPN-like outputs (TF 1.15 with compat.v1)."""
import json
import os
import sys
import numpy as np
import tensorflow.compat.v1 as tf

POINTS, SIZE = 2, 16


def residual(x, n, name):
    with tf.variable_scope(name):
        init = tf.initializers.variance_scaling(seed=n)
        out = tf.layers.conv2d(x, n, 1, padding='same', kernel_initializer=init, activation=tf.nn.relu)
        out = tf.layers.conv2d(out, n, 3, padding='same', kernel_initializer=init, activation=tf.nn.relu, dilation_rate=1)
        if x.shape.as_list()[-1] != n:
            x = tf.layers.conv2d(x, n, 1, kernel_initializer=init, use_bias=False)
        return x + out


def hourglass(x, depth, n, name):
    with tf.variable_scope(name):
        up = residual(x, n, 'up')
        low = tf.layers.max_pooling2d(x, 2, 2)
        low = residual(low, n, 'low1')
        low = hourglass(low, depth - 1, n, 'inner') if depth > 1 else residual(low, n, 'low2')
        low = tf.image.resize_nearest_neighbor(residual(low, n, 'low3'), tf.shape(up)[1:3])
        return up + low


def gaussian(points, size, sigma=1.5):
    grid = tf.cast(tf.range(size), tf.float32)
    y, x = points[..., 0][..., None, None], points[..., 1][..., None, None]
    maps = tf.exp(-((grid[None, None, :, None] - y) ** 2 + (grid[None, None, None, :] - x) ** 2) / (2 * sigma ** 2))
    return tf.transpose(maps, [0, 2, 3, 1])


def model_fn(features, labels, mode, params):
    if isinstance(features, dict):
        features = features['image']
    x = tf.layers.conv2d(features, 6, 3, padding='same', activation=tf.nn.relu, kernel_initializer=tf.initializers.variance_scaling(seed=1), name='stem')
    outs = []
    for s in range(params['stacks']):
        x = hourglass(x, 2, 6, 'stack_%d' % s)
        heat = tf.layers.conv2d(x, POINTS, 1, kernel_initializer=tf.initializers.random_normal(stddev=.1, seed=2), name='heat_%d' % s)
        outs.append(heat)
        x = x + tf.layers.conv2d(heat, 6, 1, kernel_initializer=tf.initializers.random_normal(stddev=.1, seed=3), name='merge_%d' % s)
    flat = tf.reshape(outs[-1], [-1, SIZE * SIZE, POINTS])
    index = tf.argmax(flat, 1, output_type=tf.int32)
    found = tf.stack([tf.floordiv(index, SIZE), tf.mod(index, SIZE)], -1)
    predictions = {'points': found, 'score': tf.reduce_max(flat, 1)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions, export_outputs={tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY: tf.estimator.export.PredictOutput(predictions)})
    target = gaussian(labels, SIZE)
    losses = [tf.losses.mean_squared_error(target, o, weights=float(i + 1), scope='stack%d' % i) for i, o in enumerate(outs)]
    loss = tf.losses.get_total_loss()
    error = tf.norm(tf.cast(found, tf.float32) - labels, axis=-1)
    metrics = {'pck@3': tf.metrics.mean(tf.cast(error < 3., tf.float32)), 'error': tf.metrics.mean(error), 'within': tf.metrics.percentage_below(error, 2.), 'last': tf.metrics.mean(losses[-1])}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.linear_cosine_decay(.02, step, 40, num_periods=.5, alpha=0., beta=.01)
    optimizer = tf.train.RMSPropOptimizer(rate, epsilon=1e-3)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, step, aggregation_method=tf.AggregationMethod.ADD_N))


def input_fn(repeat=1):
    rng = np.random.RandomState(4)
    x, y = np.zeros([16, SIZE, SIZE, 3], np.float32), rng.randint(2, 14, [16, POINTS, 2]).astype(np.float32)
    for i in range(16):
        for k in range(POINTS):
            a, b = y[i, k].astype(int)
            x[i, a - 1:a + 2, b - 1:b + 2, k] = 1.
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(repeat).batch(4)


def main(argv):
    tf.logging.set_verbosity(tf.logging.ERROR)
    model_dir = argv[1]
    est = tf.estimator.Estimator(model_fn, model_dir, params={'stacks': 2})
    spec = tf.estimator.EvalSpec(input_fn, steps=None, throttle_secs=0, exporters=[tf.estimator.FinalExporter('final', tf.estimator.export.build_raw_serving_input_receiver_fn({'image': tf.placeholder(tf.float32, [None, SIZE, SIZE, 3], 'image')}), as_text=False)])
    result, exported = tf.estimator.train_and_evaluate(est, tf.estimator.TrainSpec(lambda: input_fn(None), max_steps=40), spec)
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.load(sess, [tf.saved_model.SERVING], exported[0])
        signature = meta.signature_def['serving_default']
        x = np.zeros([1, SIZE, SIZE, 3], np.float32)
        x[0, 4:7, 9:12, 0] = 1.
        points = sess.run(signature.outputs['points'].name, {signature.inputs['image'].name: x})
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'first': points[0, 0].tolist(), 'inputs': sorted(signature.inputs)}))


if __name__ == '__main__':
    tf.app.run(main)
