"""U-Net with mean_iou, image summaries, a SummarySaverHook at evaluation, dice and weighted losses (TF 1.10)."""
import argparse
import json
import logging
import os
import sys
from glob import glob
import numpy as np
import tensorflow as tf

logger = logging.getLogger(__name__)


def conv_conv_pool(input_, n_filters, training, name, pool=True, activation=tf.nn.relu):
    net = input_
    with tf.variable_scope("layer{}".format(name)):
        for i, F in enumerate(n_filters):
            net = tf.layers.conv2d(net, F, (3, 3), activation=None, padding='same', kernel_initializer=tf.keras.initializers.he_normal(seed=F) if False else tf.initializers.he_normal(seed=F),
                                   kernel_regularizer=tf.contrib.layers.l2_regularizer(1e-3), name="conv_{}".format(i + 1))
            net = tf.layers.batch_normalization(net, training=training, momentum=.8, name="bn_{}".format(i + 1))
            net = activation(net, name="relu{}_{}".format(name, i + 1))
        if pool is False:
            return net
        pool = tf.layers.max_pooling2d(net, (2, 2), strides=(2, 2), name="pool_{}".format(name))
        return net, pool


def upconv_concat(inputA, input_B, n_filter, name):
    up_conv = tf.layers.conv2d_transpose(inputA, filters=n_filter, kernel_size=2, strides=2, kernel_initializer=tf.initializers.lecun_uniform(seed=n_filter),
                                         kernel_regularizer=tf.contrib.layers.l2_regularizer(1e-3), name="upsample_{}".format(name))
    return tf.concat([up_conv, input_B], axis=-1, name="concat_{}".format(name))


def IOU_(y_pred, y_true):
    H, W, _ = y_pred.get_shape().as_list()[1:]
    pred_flat, true_flat = tf.reshape(y_pred, [-1, H * W]), tf.reshape(y_true, [-1, H * W])
    intersection = 2 * tf.reduce_sum(pred_flat * true_flat, axis=1) + 1e-7
    denominator = tf.reduce_sum(pred_flat, axis=1) + tf.reduce_sum(true_flat, axis=1) + 1e-7
    return tf.reduce_mean(intersection / denominator)


def model_fn(features, labels, mode, params, config):
    training = mode == tf.estimator.ModeKeys.TRAIN
    X = features
    net = X / 127.5 - 1
    net = tf.layers.conv2d(net, 3, (1, 1), name="color_space_adjust", kernel_initializer=tf.initializers.identity() if False else tf.constant_initializer(.3))
    conv1, pool1 = conv_conv_pool(net, [4, 4], training, name=1)
    conv2, pool2 = conv_conv_pool(pool1, [6], training, name=2)
    conv3 = conv_conv_pool(pool2, [8], training, name=3, pool=False)
    up4 = upconv_concat(conv3, conv2, 6, name=4)
    conv4 = conv_conv_pool(up4, [6], training, name=4, pool=False)
    up5 = upconv_concat(conv4, conv1, 4, name=5)
    conv5 = conv_conv_pool(up5, [4], training, name=5, pool=False)
    output = tf.layers.conv2d(conv5, 1, (1, 1), name='output', activation=tf.nn.sigmoid, padding='same', kernel_initializer=tf.initializers.truncated_normal(stddev=.2, seed=1))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {'mask': tf.to_int32(output > .5), 'soft': output})
    bce = tf.losses.log_loss(labels, output, weights=tf.where(labels > .5, 2. * tf.ones_like(labels), tf.ones_like(labels)))
    loss = -IOU_(output, labels) + bce + tf.losses.get_regularization_loss()
    hooks = []
    tf.summary.image('input', X, max_outputs=1)
    tf.summary.image('mask', tf.image.grayscale_to_rgb(output), max_outputs=1)
    tf.summary.image('boxes', tf.image.draw_bounding_boxes(X / 255., tf.constant([[[.1, .1, .5, .5]]] * 4)), max_outputs=1) if training else None
    if mode == tf.estimator.ModeKeys.EVAL:
        hooks.append(tf.train.SummarySaverHook(save_steps=1, output_dir=os.path.join(config.model_dir, 'eval_images'), summary_op=tf.summary.merge_all()))
        return tf.estimator.EstimatorSpec(mode, loss=loss, evaluation_hooks=hooks, eval_metric_ops={
            'iou': tf.metrics.mean_iou(tf.to_int32(labels), tf.to_int32(output > .5), 2), 'precision': tf.metrics.precision(labels, tf.to_float(output > .5)),
            'sensitivity': tf.metrics.sensitivity_at_specificity(labels, output, .5), 'pr': tf.metrics.auc(labels, output, curve='PR', summation_method='careful_interpolation')})
    global_step = tf.train.get_global_step()
    optim = tf.train.AdamOptimizer(tf.train.polynomial_decay(.01, global_step, 20, power=.9))
    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(update_ops):
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optim.minimize(loss, global_step=global_step))


def write(folder):
    os.makedirs(folder, exist_ok=True)
    rng = np.random.RandomState(0)
    with tf.Graph().as_default(), tf.Session() as sess:
        for i in range(8):
            image = rng.randint(0, 80, [16, 16, 3]).astype(np.uint8)
            a, b = rng.randint(2, 8, 2)
            mask = np.zeros([16, 16, 1], np.uint8)
            mask[a:a + 6, b:b + 6] = 255
            image[a:a + 6, b:b + 6] += 120
            for name, value in (('image', image), ('mask', mask)):
                with open(os.path.join(folder, '%s_%d.png' % (name, i)), 'wb') as f:
                    f.write(sess.run(tf.image.encode_png(value)))


def input_fn(folder, train=False):
    def load(image, mask):
        image = tf.image.decode_png(tf.read_file(image), 3)
        mask = tf.image.decode_png(tf.read_file(mask), 1)
        image, mask = tf.to_float(image), tf.to_float(mask) / 255.
        both = tf.concat([image, mask], -1)
        if train:
            both = tf.image.rot90(both, 2)
            both = tf.image.transpose_image(both)
        image, mask = both[..., :3], both[..., 3:]
        image.set_shape([16, 16, 3])
        return tf.image.adjust_gamma(image, 1.1), mask
    names = [sorted(glob(os.path.join(folder, kind + '_*.png'))) for kind in ('image', 'mask')]
    ds = tf.data.Dataset.from_tensor_slices(tuple(names)).map(load, num_parallel_calls=4)
    return (ds.repeat() if train else ds).batch(4).make_one_shot_iterator().get_next()


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--logdir', default='logdir')
    args = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    write('shapes')
    model = tf.estimator.Estimator(model_fn, args.logdir, tf.estimator.RunConfig(save_summary_steps=5), params={})
    model.train(lambda: input_fn('shapes', True), steps=15)
    result = model.evaluate(lambda: input_fn('shapes'))
    soft = [p['soft'].mean() for p in model.predict(lambda: (input_fn('shapes')[0],))] if False else [float(p['soft'].mean()) for p in model.predict(lambda: input_fn('shapes'))]
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'soft': soft[:3], 'images': len(os.listdir(os.path.join(args.logdir, 'eval_images')))}))
