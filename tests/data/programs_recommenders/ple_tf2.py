# -*- coding: utf-8 -*-
"""PLE 多任务 (TensorFlow 2.6): tf.estimator + tf.feature_column + compat.v1.feature_column.input_layer"""
import argparse
import json
import numpy as np
import pandas as pd
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--epochs', default=4, type=int)
parser.add_argument('--tasks', nargs='+', default=['a', 'b'])
args = parser.parse_args([])

rng = np.random.RandomState(31)
df = pd.DataFrame({'gender': rng.choice(['男', '女'], 60), 'level': rng.randint(0, 5, 60), 'amount': rng.rand(60).astype('float32')})
df['a'] = ((df.level > 2) | (df.gender == '女')).astype('float32')
df['b'] = (df.amount > .5).astype('float32')
columns = [
    tf.feature_column.indicator_column(tf.feature_column.categorical_column_with_vocabulary_list('gender', ['男', '女'])),
    tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_identity('level', 5), 3, initializer=tf.compat.v1.truncated_normal_initializer(stddev=.3, seed=1)),
    tf.feature_column.numeric_column('amount')]


def input_fn(epochs=1):
    labels = {t: df[t].values for t in args.tasks}
    ds = tf.data.Dataset.from_tensor_slices((dict(df[['gender', 'level', 'amount']]), labels))
    return ds.batch(15).repeat(epochs).prefetch(tf.data.experimental.AUTOTUNE)


def dense(x, units, seed, act=tf.nn.relu, name=None):
    return tf.compat.v1.layers.dense(x, units, act, kernel_initializer=tf.compat.v1.glorot_uniform_initializer(seed=seed), name=name)


def model_fn(features, labels, mode, params):
    x = tf.compat.v1.feature_column.input_layer(features, params['columns'])
    shared = [dense(x, 4, 10 + i, name=f'shared_{i}') for i in range(2)]
    logits = {}
    for t, task in enumerate(params['tasks']):
        own = [dense(x, 4, 20 + 5 * t + i, name=f'{task}_{i}') for i in range(2)]
        gate = tf.nn.softmax(dense(x, 4, 40 + t, None, name=f'{task}_gate'))
        mixed = tf.reduce_sum(tf.stack(own + shared, 1) * gate[:, :, tf.newaxis], 1)
        logits[task] = dense(mixed, 1, 50 + t, None, name=f'{task}_out')
    heads = tf.estimator.MultiHead([tf.estimator.BinaryClassHead(name=t) for t in params['tasks']])
    optimizer = tf.compat.v1.train.AdagradOptimizer(.2)
    if labels is not None:
        labels = {k: tf.expand_dims(v, 1) for k, v in labels.items()}
    return heads.create_estimator_spec(
        features, mode, logits, labels, trainable_variables=tf.compat.v1.trainable_variables(),
        train_op_fn=lambda loss: optimizer.minimize(loss, tf.compat.v1.train.get_global_step()))


est = tf.estimator.Estimator(model_fn, 'ple', params={'columns': columns, 'tasks': args.tasks})
est.train(lambda: input_fn(args.epochs))
result = est.evaluate(input_fn)
row = next(est.predict(input_fn))
print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'row': {'/'.join(k) if isinstance(k, tuple) else k: v.tolist() for k, v in row.items() if v.dtype.kind == 'f'}}))
