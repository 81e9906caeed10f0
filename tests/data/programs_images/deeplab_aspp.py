"""DeepLab-like: atrous blocks, ASPP, image pooling, decoder, poly rate, frozen batch norm, mean_iou per class by confusion matrix."""
import argparse
import json
import os
import sys
import numpy as np
import tensorflow as tf
from tensorflow.contrib.slim.python.slim.nets import resnet_utils
from tensorflow.contrib import layers as layers_lib
from tensorflow.contrib.framework.python.ops import arg_scope
from tensorflow.contrib.layers.python.layers import layers
from tensorflow.contrib.slim.nets import resnet_v2
_BATCH_NORM_DECAY, _WEIGHT_DECAY, CLASSES = .9, 5e-4, 3


def atrous_spatial_pyramid_pooling(inputs, output_stride, is_training, depth=6):
    with tf.variable_scope('aspp'):
        with tf.contrib.slim.arg_scope(resnet_utils.resnet_arg_scope(weight_decay=_WEIGHT_DECAY, batch_norm_decay=_BATCH_NORM_DECAY)):
            with arg_scope([layers.batch_norm], is_training=is_training), arg_scope([layers.conv2d], weights_initializer=tf.variance_scaling_initializer(seed=8)):
                size = tf.shape(inputs)[1:3]
                conv_1x1 = layers_lib.conv2d(inputs, depth, [1, 1], stride=1, scope='conv_1x1')
                branches = [layers_lib.conv2d(inputs, depth, [3, 3], stride=1, rate=r, scope='conv_3x3_%d' % i) for i, r in enumerate((1, 2))]
                with tf.variable_scope('image_level_features'):
                    image = tf.reduce_mean(inputs, [1, 2], name='global_average_pooling', keepdims=True)
                    image = layers_lib.conv2d(image, depth, [1, 1], stride=1, scope='conv_1x1')
                    image = tf.image.resize_bilinear(image, size, name='upsample')
                net = tf.concat([conv_1x1] + branches + [image], axis=3, name='concat')
                return layers_lib.conv2d(net, depth, [1, 1], stride=1, scope='conv_1x1_concat')


def deeplab(inputs, is_training):
    with tf.contrib.slim.arg_scope(resnet_v2.resnet_arg_scope(batch_norm_decay=_BATCH_NORM_DECAY)), arg_scope([layers.conv2d], weights_initializer=tf.variance_scaling_initializer(seed=3)):
        blocks = [resnet_v2.resnet_v2_block('block1', base_depth=2, num_units=1, stride=1), resnet_v2.resnet_v2_block('block2', base_depth=3, num_units=2, stride=2)] if hasattr(resnet_v2, 'resnet_v2_block') else None
        logits, end_points = resnet_v2.resnet_v2(inputs, blocks, num_classes=None, is_training=is_training, global_pool=False, output_stride=4, include_root_block=True, scope='resnet_v2_tiny')
    low = end_points['resnet_v2_tiny/block1']
    encoder = atrous_spatial_pyramid_pooling(logits, 4, is_training)
    with tf.variable_scope('decoder'):
        low = layers_lib.conv2d(low, 4, [1, 1], scope='low', weights_initializer=tf.variance_scaling_initializer(seed=2))
        net = tf.concat([tf.image.resize_bilinear(encoder, tf.shape(low)[1:3]), low], 3)
        net = layers_lib.conv2d(net, CLASSES, [1, 1], activation_fn=None, normalizer_fn=None, scope='logits', weights_initializer=tf.variance_scaling_initializer(seed=1))
        return tf.image.resize_bilinear(net, tf.shape(inputs)[1:3], name='upsample_2'), sorted(end_points)


def model_fn(features, labels, mode, params):
    if isinstance(features, dict):
        features = features['feature']
    images = tf.cast(tf.map_fn(lambda x: x + [.5, .4, .3], features), tf.uint8)
    logits, names = deeplab(features, mode == tf.estimator.ModeKeys.TRAIN)
    pred_classes = tf.expand_dims(tf.argmax(logits, axis=3, output_type=tf.int32), axis=3)
    predictions = {'classes': pred_classes, 'probabilities': tf.nn.softmax(logits, name='softmax_tensor')}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode=mode, predictions={'classes': pred_classes})
    labels = tf.squeeze(labels, axis=3)
    logits_by_num_classes = tf.reshape(logits, [-1, CLASSES])
    labels_flat = tf.reshape(labels, [-1, ])
    valid_indices = tf.to_int32(labels_flat <= CLASSES - 1)
    valid_logits = tf.dynamic_partition(logits_by_num_classes, valid_indices, num_partitions=2)[1]
    valid_labels = tf.dynamic_partition(labels_flat, valid_indices, num_partitions=2)[1]
    preds_flat = tf.reshape(pred_classes, [-1, ])
    valid_preds = tf.dynamic_partition(preds_flat, valid_indices, num_partitions=2)[1]
    confusion_matrix = tf.confusion_matrix(valid_labels, valid_preds, num_classes=CLASSES)
    cross_entropy = tf.losses.sparse_softmax_cross_entropy(logits=valid_logits, labels=valid_labels)
    train_var_list = [v for v in tf.trainable_variables() if 'beta' not in v.name and 'gamma' not in v.name]
    with tf.variable_scope('total_loss'):
        loss = cross_entropy + _WEIGHT_DECAY * tf.add_n([tf.nn.l2_loss(v) for v in train_var_list])
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        global_step = tf.train.get_or_create_global_step()
        learning_rate = tf.train.polynomial_decay(.02, tf.cast(global_step, tf.int32) - 0, 15, 0.0, power=.9)
        optimizer = tf.train.MomentumOptimizer(learning_rate=learning_rate, momentum=.9)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.minimize(loss, global_step, var_list=train_var_list)
    mean_iou = tf.metrics.mean_iou(valid_labels, valid_preds, CLASSES)

    def compute_mean_iou(total_cm, name='mean_iou'):
        sum_over_row, sum_over_col = tf.to_float(tf.reduce_sum(total_cm, 0)), tf.to_float(tf.reduce_sum(total_cm, 1))
        cm_diag = tf.to_float(tf.diag_part(total_cm))
        denominator = sum_over_row + sum_over_col - cm_diag
        num_valid_entries = tf.reduce_sum(tf.cast(tf.not_equal(denominator, 0), dtype=tf.float32))
        iou = tf.div(cm_diag, tf.where(tf.greater(denominator, 0), denominator, tf.ones_like(denominator)))
        return tf.where(tf.greater(num_valid_entries, 0), tf.reduce_sum(iou, name=name) / num_valid_entries, 0)
    return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops={
        'px_accuracy': tf.metrics.accuracy(valid_labels, valid_preds), 'mean_iou': mean_iou, 'batch_iou': tf.metrics.mean(compute_mean_iou(confusion_matrix))})


def input_fn(repeat=1):
    rng = np.random.RandomState(1)
    x = rng.rand(8, 16, 16, 3).astype(np.float32) * .3
    y = np.zeros([8, 16, 16, 1], np.int32)
    for i in range(8):
        a = i % 3 * 4
        y[i, a:a + 6, 2:8] = 1
        y[i, 10:, 9:14] = 2
        y[i, 0, :] = 255
    for c in (1, 2):
        x[..., c] += y[..., 0] == c
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(repeat).batch(4)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--model_dir', type=str, default='./model')
    FLAGS, unparsed = parser.parse_known_args()
    os.environ['TF_ENABLE_WINOGRAD_NONFUSED'] = '1'
    model = tf.estimator.Estimator(model_fn=model_fn, model_dir=FLAGS.model_dir, config=tf.estimator.RunConfig().replace(save_checkpoints_secs=1e9), params={})
    model.train(lambda: input_fn(6))
    result = model.evaluate(input_fn)
    classes = next(model.predict(input_fn))['classes']
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'shape': classes.shape, 'names': len(model.get_variable_names())}))
