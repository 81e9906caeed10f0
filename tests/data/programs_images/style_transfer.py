"""Fast style transfer: a frozen loss network from a checkpoint of npz weights, Gram matrices, instance norm, total variation."""
import json
import os
import sys
import numpy as np
import tensorflow as tf
from tensorflow.python import pywrap_tensorflow

STYLE_LAYERS, CONTENT_LAYER = ['conv1', 'conv2'], 'conv2'


def loss_net(x, reuse=False):
    out = {}
    with tf.variable_scope('vgg', reuse=reuse):
        for i, n in enumerate((4, 6)):
            x = tf.layers.conv2d(x, n, 3, padding='same', activation=tf.nn.relu, name='conv%d' % (i + 1), trainable=False)
            out['conv%d' % (i + 1)] = x
            x = tf.layers.max_pooling2d(x, 2, 2)
    return out


def instance_norm(x, name):
    with tf.variable_scope(name):
        mean, var = tf.nn.moments(x, [1, 2], keep_dims=True)
        scale = tf.get_variable('scale', [x.shape[-1]], initializer=tf.ones_initializer())
        shift = tf.get_variable('shift', [x.shape[-1]], initializer=tf.zeros_initializer())
        return scale * (x - mean) / tf.sqrt(var + 1e-3) + shift


def transform_net(x):
    init = tf.truncated_normal_initializer(stddev=.3, seed=1)
    with tf.variable_scope('transform'):
        x = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], mode='REFLECT')
        x = tf.nn.relu(instance_norm(tf.layers.conv2d(x, 4, 3, strides=2, kernel_initializer=init), 'in1'))
        res = instance_norm(tf.layers.conv2d(x, 4, 3, padding='same', kernel_initializer=init), 'in2')
        x = x + res
        x = tf.image.resize_nearest_neighbor(x, [12, 12])
        x = tf.layers.conv2d(x, 3, 3, padding='same', kernel_initializer=init)
        return tf.nn.tanh(x) * 150 + 255. / 2


def gram(layer):
    shape = tf.shape(layer)
    filters = layer.get_shape().as_list()[3]
    flat = tf.reshape(layer, tf.stack([shape[0], -1, filters]))
    return tf.matmul(flat, flat, transpose_a=True) / tf.to_float(shape[1] * shape[2] * filters)


def total_variation_loss(layer):
    shape = tf.shape(layer)
    h, w = shape[1], shape[2]
    y = tf.slice(layer, [0, 0, 0, 0], tf.stack([-1, h - 1, -1, -1])) - tf.slice(layer, [0, 1, 0, 0], [-1, -1, -1, -1])
    x = tf.slice(layer, [0, 0, 0, 0], tf.stack([-1, -1, w - 1, -1])) - tf.slice(layer, [0, 0, 1, 0], [-1, -1, -1, -1])
    return 2 * tf.nn.l2_loss(x) / tf.to_float(tf.size(x)) + 2 * tf.nn.l2_loss(y) / tf.to_float(tf.size(y))


def model_fn(features, labels, mode, params):
    generated = transform_net(features / 255.)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {'image': tf.cast(tf.clip_by_value(generated, 0, 255), tf.uint8)})
    both = loss_net(tf.concat([generated, features], 0) / 255.)
    style = loss_net(tf.constant(params['style'][None]) / 255., reuse=True)
    tf.train.init_from_checkpoint(params['vgg'], {'net/': 'vgg/'})
    content_loss = tf.losses.mean_squared_error(*reversed(tf.split(both[CONTENT_LAYER], 2)))
    style_loss = sum(2 * tf.nn.l2_loss(gram(tf.split(both[l], 2)[0]) - gram(style[l])) / tf.to_float(tf.size(gram(style[l]))) for l in STYLE_LAYERS)
    loss = content_loss + 10. * style_loss + 1e-4 * total_variation_loss(generated)
    if mode == tf.estimator.ModeKeys.EVAL:
        psnr = tf.metrics.mean(tf.image.total_variation(generated))
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={'variation': psnr, 'content': tf.metrics.mean(content_loss)})
    assert all(v.op.name.startswith('transform') for v in tf.trainable_variables())
    restore = [v for v in tf.global_variables() if 'vgg' in v.name]
    train_op = tf.train.AdamOptimizer(1e-2).minimize(loss, global_step=tf.train.get_global_step(), var_list=tf.trainable_variables())
    saver = tf.train.Saver([v for v in tf.global_variables() if v not in restore] + restore, max_to_keep=1)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, scaffold=tf.train.Scaffold(saver=saver))


def make_vgg(folder):
    rng = np.random.RandomState(3)
    with tf.Graph().as_default() as g, tf.Session(graph=g) as sess:
        for name, shape in (('conv1', [3, 3, 3, 4]), ('conv2', [3, 3, 4, 6])):
            tf.Variable(rng.randn(*shape).astype('float32') * .2, name='net/%s/kernel' % name)
            tf.Variable(rng.randn(shape[-1]).astype('float32') * .1, name='net/%s/bias' % name)
        sess.run(tf.initialize_all_variables())
        path = tf.train.Saver(write_version=tf.train.SaverDef.V2).save(sess, os.path.join(folder, 'vgg.ckpt'))
    reader = pywrap_tensorflow.NewCheckpointReader(path)
    return path, sorted(reader.get_variable_to_shape_map())


def images():
    x = np.random.RandomState(1).randint(0, 255, [12, 12, 12, 3]).astype('float32')
    return tf.data.Dataset.from_tensor_slices(x).batch(4)


if __name__ == '__main__':
    os.makedirs('vgg', exist_ok=True)
    path, names = make_vgg('vgg')
    style = np.linspace(0, 255, 12 * 12 * 3, dtype=np.float32).reshape(12, 12, 3)
    est = tf.estimator.Estimator(model_fn, sys.argv[1], params={'vgg': path, 'style': style})
    est.train(lambda: images().repeat(4).make_one_shot_iterator().get_next())
    result = est.evaluate(lambda: images().make_one_shot_iterator().get_next())
    same = float(np.abs(est.get_variable_value('vgg/conv1/kernel') - tf.train.load_variable(path, 'net/conv1/kernel')).max())
    row = next(est.predict(lambda: images()))
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'names': names, 'moved': same, 'dtype': str(row['image'].dtype), 'shape': row['image'].shape}))
