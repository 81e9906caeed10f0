# -*- coding: utf-8 -*-
"""TF_CONFIG 单机单 chief (TensorFlow 1.15): 解析环境变量, RunConfig 的属性, parameterized train_and_evaluate"""
import json
import os
os.environ.pop('TF_CONFIG', None)
import tensorflow as tf
from tensorflow.python.lib.io import file_io
from tensorflow.python.platform import gfile


def describe(config):
    return [config.task_type, config.task_id, config.is_chief, config.num_ps_replicas, config.num_worker_replicas, config.master,
            sorted(config.cluster_spec.as_dict()) if config.cluster_spec else None, config.evaluation_master, config.service]


def model_fn(features, labels, mode, params, config):
    x = tf.feature_column.input_layer(features, [tf.feature_column.numeric_column('v', dtype=tf.float64)])
    y = tf.layers.dense(x, 1, kernel_initializer=tf.zeros_initializer())
    spec = dict(mode=mode, predictions={'y': y, 'chief': tf.fill(tf.shape(y), config.is_chief)})
    if labels is not None:
        spec['loss'] = tf.losses.absolute_difference(tf.expand_dims(labels, 1), y)
        spec['train_op'] = tf.train.GradientDescentOptimizer(params['lr'] / config.num_worker_replicas).minimize(spec['loss'], tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(**spec)


def input_fn(params=None):
    lines = [float(line) for line in file_io.FileIO('values.txt', 'r').read().split()]
    return tf.data.Dataset.from_tensor_slices(({'v': lines}, [2 * v for v in lines])).repeat(5).batch(2).map(lambda f, l: (f, tf.cast(l, tf.float32)))


with gfile.GFile('values.txt', 'w') as out:
    out.write('1\n2\n3\n4\n')
seen = {'local': describe(tf.estimator.RunConfig())}
os.environ['TF_CONFIG'] = json.dumps({'cluster': {'chief': ['localhost:2222'], 'ps': ['localhost:2223'], 'worker': ['localhost:2224', 'localhost:2225']}, 'task': {'type': 'worker', 'index': 1}})
seen['worker'] = describe(tf.estimator.RunConfig())
os.environ['TF_CONFIG'] = json.dumps({'cluster': {'master': ['localhost:2222'], 'ps': ['localhost:2223']}, 'task': {'type': 'ps', 'index': 0}})
seen['ps'] = describe(tf.estimator.RunConfig())
os.environ['TF_CONFIG'] = json.dumps({'cluster': {'chief': ['localhost:0']}, 'task': {'type': 'chief', 'index': 0}})
seen['one'] = describe(tf.estimator.RunConfig(model_dir='x'))
os.environ.pop('TF_CONFIG')
est = tf.estimator.Estimator(model_fn, 'config_model', tf.estimator.RunConfig(save_summary_steps=None), {'lr': .1})
est.train(input_fn, max_steps=8)
est.train(input_fn, max_steps=8)
seen['again'] = [int(est.get_variable_value('global_step')), est.get_variable_value('dense/kernel').tolist()]
seen['eval'] = {k: float(v) for k, v in est.evaluate(input_fn, checkpoint_path=tf.train.latest_checkpoint('config_model')).items()}
seen['rows'] = [[float(r['y'][0]), bool(r['chief'][0])] for r in est.predict(input_fn)][:3]
print(json.dumps(seen))
