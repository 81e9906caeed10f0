"""cifar10_estimator style: towers with averaged gradients by hand, a param-server setter, ExamplesPerSecond, HParams, and replicate_model_fn."""
from __future__ import division
import argparse
import functools
import itertools
import json
import os
import six
from six.moves import xrange  # pylint: disable=redefined-builtin
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import node_def_pb2
from tensorflow.python.framework import device as pydev
from tensorflow.python.training import device_setter, basic_session_run_hooks, session_run_hook, training_util
from tensorflow.contrib.learn.python.learn import run_config

tf.logging.set_verbosity(tf.logging.ERROR)


class RunConfig(tf.contrib.learn.RunConfig):
    def uid(self, whitelist=None):
        return 'uid'


def local_device_setter(num_devices=1, ps_device_type='cpu', worker_device='/cpu:0', ps_ops=None, ps_strategy=None):
    if ps_ops is None:
        ps_ops = ['Variable', 'VariableV2', 'VarHandleOp']
    if ps_strategy is None:
        ps_strategy = device_setter._RoundRobinStrategy(num_devices)
    if not six.callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")

    def _local_device_chooser(op):
        current_device = pydev.DeviceSpec.from_string(op.device or "")
        node_def = op if isinstance(op, node_def_pb2.NodeDef) else op.node_def
        if node_def.op in ps_ops:
            ps_device_spec = pydev.DeviceSpec.from_string('/{}:{}'.format(ps_device_type, ps_strategy(op)))
            ps_device_spec = ps_device_spec.make_merged_spec(current_device) if hasattr(ps_device_spec, 'make_merged_spec') else ps_device_spec
            return ps_device_spec.to_string()
        worker_device_spec = pydev.DeviceSpec.from_string(worker_device or "")
        return worker_device_spec.to_string()
    return _local_device_chooser


def tower_fn(is_training, weight_decay, feature, label):
    with tf.variable_scope('net', initializer=tf.glorot_uniform_initializer(seed=2)):
        x = tf.layers.conv2d(feature, 6, 3, activation=tf.nn.relu)
        x = tf.layers.batch_normalization(x, training=is_training, fused=True, momentum=.8)
        logits = tf.layers.dense(tf.reduce_mean(x, [1, 2]), 3)
    loss = tf.losses.sparse_softmax_cross_entropy(logits=logits, labels=label)
    params = tf.trainable_variables()
    loss += weight_decay * tf.add_n([tf.nn.l2_loss(v) for v in params])
    return loss, zip(tf.tuple(tf.gradients(loss, params)), params), {'classes': tf.argmax(logits, axis=1), 'probabilities': tf.nn.softmax(logits)}


def get_model_fn(num_towers):
    def _resnet_model_fn(features, labels, mode, params):
        is_training = (mode == tf.estimator.ModeKeys.TRAIN)
        tower_losses, tower_gradvars, tower_preds = [], [], []
        shards, label_shards = tf.split(features, num_towers), tf.split(labels, num_towers)
        for i in range(num_towers):
            with tf.variable_scope('resnet', reuse=bool(i != 0)):
                with tf.name_scope('tower_%d' % i) as name_scope:
                    with tf.device(local_device_setter(worker_device='/cpu:0')):
                        loss, gradvars, preds = tower_fn(is_training, params.weight_decay, shards[i], label_shards[i])
                        tower_losses.append(loss)
                        tower_gradvars.append(gradvars)
                        tower_preds.append(preds)
                        if i == 0:
                            update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS, name_scope)
        gradvars = []
        with tf.name_scope('gradient_averaging'):
            all_grads = {}
            for grad, var in itertools.chain(*tower_gradvars):
                if grad is not None:
                    all_grads.setdefault(var.name, (var, []))[1].append(grad)
            for var, grads in six.itervalues(all_grads):
                with tf.device(var.device):
                    avg_grad = grads[0] if len(grads) == 1 else tf.multiply(tf.add_n(grads), 1. / len(grads))
                gradvars.append((avg_grad, var))
        with tf.device('/cpu:0'):
            step = tf.train.get_global_step()
            learning_rate = tf.train.piecewise_constant(tf.train.get_global_step(), [4, 8], [params.learning_rate * d for d in (1, .1, .01)])
            loss = tf.reduce_mean(tower_losses, name='loss')
            optimizer = tf.train.MomentumOptimizer(learning_rate=learning_rate, momentum=.9)
            train_op = [optimizer.apply_gradients(gradvars, global_step=step)]
            train_op.extend(update_ops)
            train_op = tf.group(*train_op)
            predictions = {'classes': tf.concat([p['classes'] for p in tower_preds], axis=0), 'probabilities': tf.concat([p['probabilities'] for p in tower_preds], axis=0)}
            metrics = {'accuracy': tf.metrics.accuracy(labels, predictions['classes'])}
        return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)
    return _resnet_model_fn


def plain_fn(features, labels, mode, params):
    loss, gradvars, preds = tower_fn(mode == 'train', params.weight_decay, features, labels)
    optimizer = tf.contrib.estimator.TowerOptimizer(tf.train.GradientDescentOptimizer(.1))
    return tf.estimator.EstimatorSpec(mode=mode, predictions=preds, loss=loss, train_op=optimizer.apply_gradients(gradvars, global_step=tf.train.get_global_step()), eval_metric_ops={'accuracy': tf.metrics.accuracy(labels, preds['classes'])})


def input_fn(repeat=1):
    rng = np.random.RandomState(5)
    y = np.arange(24) % 3
    x = rng.rand(24, 6, 6, 3).astype(np.float32)
    x[np.arange(24), :, :, y] += .5
    dataset = tf.data.Dataset.from_tensor_slices((x, y.astype(np.int32))).repeat(repeat).batch(8)
    return dataset.make_one_shot_iterator().get_next()


def main(job_dir, **hparams):
    config = RunConfig(session_config=tf.ConfigProto(allow_soft_placement=True, intra_op_parallelism_threads=1, gpu_options=tf.GPUOptions(force_gpu_compatible=True)), model_dir=job_dir)
    hparams = tf.contrib.training.HParams(is_chief=config.is_chief, **hparams)
    classifier = tf.estimator.Estimator(model_fn=get_model_fn(2), config=config, params=hparams)
    classifier.train(functools.partial(input_fn, 4))
    out = {'towers': {k: float(v) for k, v in classifier.evaluate(input_fn).items()}}
    replicated = tf.contrib.estimator.replicate_model_fn(plain_fn, devices=['/cpu:0'])
    second = tf.estimator.Estimator(replicated, os.path.join(job_dir, 'replicated'), params=hparams)
    second.train(functools.partial(input_fn, 4))
    out['replicated'] = {k: float(v) for k, v in second.evaluate(input_fn).items()}
    print(json.dumps(out))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--job-dir', type=str, required=True, help='The directory where the model will be stored.')
    parser.add_argument('--weight-decay', type=float, default=2e-4)
    parser.add_argument('--learning-rate', type=float, default=0.1)
    args = parser.parse_args()
    main(**vars(args))
