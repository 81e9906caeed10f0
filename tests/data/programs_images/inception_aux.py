"""Inception-style towers in slim with auxiliary logits; fine-tuning from a checkpoint with excluded scopes through Scaffold.init_fn."""
import json
import os
import sys
import numpy as np
import tensorflow as tf
from tensorflow.contrib import slim
from tensorflow.contrib.slim.python.slim.learning import create_train_op
from tensorflow.contrib.framework.python.ops import variables as contrib_variables
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.summary import summary
trunc_normal = lambda stddev: tf.truncated_normal_initializer(0.0, stddev, seed=1)


def inception_base(inputs, scope=None):
    end_points = {}
    with tf.variable_scope(scope, 'InceptionV3', [inputs]):
        with slim.arg_scope([slim.conv2d, slim.max_pool2d, slim.avg_pool2d], stride=1, padding='SAME'):
            net = slim.conv2d(inputs, 8, [3, 3], stride=2, scope='Conv2d_1a_3x3', padding='VALID')
            net = slim.max_pool2d(net, [3, 3], stride=2, scope='MaxPool_3a_3x3')
            end_points['stem'] = net
            for number in range(2):
                with tf.variable_scope('Mixed_5%s' % 'bc'[number]):
                    with tf.variable_scope('Branch_0'):
                        branch_0 = slim.conv2d(net, 4, [1, 1], scope='Conv2d_0a_1x1')
                    with tf.variable_scope('Branch_1'):
                        branch_1 = slim.conv2d(net, 4, [1, 1], scope='Conv2d_0a_1x1')
                        branch_1 = slim.conv2d(branch_1, 6, [1, 3], scope='Conv2d_0b_1x3')
                        branch_1 = slim.conv2d(branch_1, 6, [3, 1], scope='Conv2d_0c_3x1')
                    with tf.variable_scope('Branch_2'):
                        branch_2 = slim.repeat(net, 2, slim.conv2d, 4, [3, 3], scope='Conv2d_0a_3x3')
                    with tf.variable_scope('Branch_3'):
                        branch_3 = slim.conv2d(slim.avg_pool2d(net, [3, 3], scope='AvgPool_0a_3x3'), 4, [1, 1], scope='Conv2d_0b_1x1')
                    net = tf.concat(axis=3, values=[branch_0, branch_1, branch_2, branch_3])
                end_points['Mixed_5%s' % 'bc'[number]] = net
    return net, end_points


def inception(inputs, num_classes, is_training, scope='InceptionV3'):
    with tf.variable_scope(scope, 'InceptionV3', [inputs, num_classes]) as scope:
        with slim.arg_scope([slim.batch_norm, slim.dropout], is_training=is_training):
            net, end_points = inception_base(inputs, scope=scope)
            with slim.arg_scope([slim.conv2d, slim.max_pool2d], stride=1, padding='SAME'):
                aux = end_points['Mixed_5b']
                with tf.variable_scope('AuxLogits'):
                    aux = slim.conv2d(aux, 4, [1, 1], scope='Conv2d_1b_1x1')
                    aux = slim.conv2d(aux, num_classes, aux.get_shape()[1:3], activation_fn=None, normalizer_fn=None, padding='VALID', weights_initializer=trunc_normal(0.2), scope='Conv2d_2b_1x1')
                    end_points['AuxLogits'] = tf.squeeze(aux, [1, 2], name='SpatialSqueeze')
            with tf.variable_scope('Logits'):
                net = slim.avg_pool2d(net, net.shape[1:3], padding='VALID', scope='AvgPool_1a')
                net = slim.dropout(net, keep_prob=1.0, scope='Dropout_1b')
                end_points['PreLogits'] = slim.flatten(net)
                logits = slim.fully_connected(end_points['PreLogits'], num_classes, activation_fn=None, normalizer_fn=None, weights_initializer=trunc_normal(0.2), scope='Logits')
                end_points['Predictions'] = slim.softmax(logits, scope='Predictions')
    return logits, end_points


def arg_scope(weight_decay=1e-3):
    with slim.arg_scope([slim.conv2d, slim.fully_connected], weights_regularizer=slim.l2_regularizer(weight_decay)):
        with slim.arg_scope([slim.conv2d], weights_initializer=slim.variance_scaling_initializer(seed=3), activation_fn=tf.nn.relu, normalizer_fn=slim.batch_norm,
                            normalizer_params={'decay': 0.9, 'epsilon': 0.001, 'fused': None, 'updates_collections': tf.GraphKeys.UPDATE_OPS}) as sc:
            return sc


def _get_init_fn(checkpoint_path, exclude):
    exclusions = [scope.strip() for scope in exclude.split(',')]
    variables_to_restore = [var for var in slim.get_model_variables() if not any(var.op.name.startswith(e) for e in exclusions)]
    logging.info('Fine-tuning from %s' % checkpoint_path)
    fn = slim.assign_from_checkpoint_fn(checkpoint_path, variables_to_restore, ignore_missing_vars=True)
    return lambda scaffold, session: fn(session)


def model_fn(features, labels, mode, params):
    with slim.arg_scope(arg_scope()):
        logits, end_points = inception(features, params['classes'], mode == tf.estimator.ModeKeys.TRAIN)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {'pre': end_points['PreLogits'], 'p': end_points['Predictions']})
    one_hot = slim.one_hot_encoding(labels, params['classes'])
    tf.losses.softmax_cross_entropy(logits=end_points['AuxLogits'], onehot_labels=one_hot, label_smoothing=0.1, weights=0.4, scope='aux_loss')
    tf.losses.softmax_cross_entropy(logits=logits, onehot_labels=one_hot, label_smoothing=0.1, weights=1.0)
    loss = tf.losses.get_total_loss()
    for item in tf.get_collection(tf.GraphKeys.LOSSES):
        summary.scalar('losses/%s' % item.op.name, item)
    scaffold = None
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        if params.get('start'):
            scaffold = tf.train.Scaffold(init_fn=_get_init_fn(params['start'], 'InceptionV3/Logits,InceptionV3/AuxLogits'))
        train_op = create_train_op(loss, tf.train.AdamOptimizer(0.01, epsilon=0.1), global_step=contrib_variables.get_or_create_global_step(), check_numerics=True)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, scaffold=scaffold, eval_metric_ops={'top1': tf.metrics.accuracy(labels, tf.argmax(logits, 1)), 'regular': tf.metrics.mean(tf.losses.get_regularization_loss())})


def input_fn(classes, n=12, repeat=1):
    rng = np.random.RandomState(classes)
    y = np.arange(n) % classes
    x = rng.randn(n, 13, 13, 3).astype(np.float32)
    x[np.arange(n), y, :, :] += 2
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(repeat).batch(4)


if __name__ == '__main__':
    logging.set_verbosity(logging.ERROR)
    root = sys.argv[1]
    first = tf.estimator.Estimator(model_fn, os.path.join(root, 'first'), params={'classes': 2})
    first.train(lambda: input_fn(2, repeat=4))
    second = tf.estimator.Estimator(model_fn, os.path.join(root, 'second'), params={'classes': 4, 'start': tf.train.latest_checkpoint(first.model_dir)})
    second.train(lambda: input_fn(4, repeat=2))
    print(json.dumps({'first': {k: float(v) for k, v in first.evaluate(lambda: input_fn(2)).items()}, 'second': {k: float(v) for k, v in second.evaluate(lambda: input_fn(4)).items()},
                      'names': sorted(n for n in second.get_variable_names() if 'Adam' not in n and 'Branch' not in n)}))
