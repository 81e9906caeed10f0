"""Estimators beside eager code in one program: datasets looked at, tf.function, metrics by hand (TensorFlow 2.10)."""
import json
import os
import pathlib
import tempfile

import numpy as np
import tensorflow as tf

tf.get_logger().setLevel('ERROR')
tf.keras.utils.set_random_seed(1)
folder = pathlib.Path(tempfile.mkdtemp())
features = np.random.default_rng(0).uniform(-1, 1, (40, 3)).astype('float32')
labels = (features @ np.array([1., -2., .5], 'float32'))[:, None]


@tf.function
def preprocess(x, y):
    return {'x': x * 2.0, 'id': tf.strings.as_string(tf.cast(x[0] > 0, tf.int32))}, y


def input_fn(params=None, repeat=None):
    ds = tf.data.Dataset.from_tensor_slices((features, labels)).map(preprocess, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    return ds.batch(8, drop_remainder=True).repeat(repeat)


batch, _ = next(iter(input_fn()))
print('eager', batch['x'].shape, batch['id'][0].numpy())
columns = [tf.feature_column.numeric_column('x', (3,)), tf.feature_column.indicator_column(tf.feature_column.categorical_column_with_vocabulary_list('id', ['0', '1']))]
linear = tf.estimator.LinearRegressor(columns, model_dir=str(folder / 'linear'), optimizer=tf.keras.optimizers.Ftrl(.5) if False else 'Ftrl')
linear.train(lambda: input_fn(repeat=6))
result = linear.evaluate(lambda: input_fn(repeat=1))
rows = np.array([p['predictions'][0] for p in linear.predict(lambda: input_fn(repeat=1))])
metric = tf.keras.metrics.RootMeanSquaredError()
metric.update_state(labels[:, 0], rows)


def model_fn(features, labels, mode, params, config):
    net = tf.compat.v1.keras.layers.Dense(3, 'tanh', kernel_initializer='ones')(features['x']) if False else tf.tanh(
        tf.compat.v1.layers.dense(features['x'], 3, kernel_initializer=tf.compat.v1.initializers.constant(params['start'])))
    y = tf.compat.v1.layers.dense(net, 1, kernel_initializer=tf.compat.v1.initializers.ones())
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'y': y}, export_outputs={'serving_default': tf.estimator.export.RegressionOutput(y)})
    loss = tf.compat.v1.losses.mean_squared_error(labels, y)
    op = tf.compat.v1.train.MomentumOptimizer(.05, .5).minimize(loss, tf.compat.v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op, eval_metric_ops={'cos': tf.compat.v1.metrics.mean_cosine_distance(tf.nn.l2_normalize(labels, 0), tf.nn.l2_normalize(y, 0), 0)})


estimator = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(model_dir=os.fspath(folder / 'own'), save_checkpoints_steps=7), params={'start': .3})
states = tf.estimator.train_and_evaluate(
    estimator, tf.estimator.TrainSpec(input_fn, max_steps=15), tf.estimator.EvalSpec(lambda: input_fn(repeat=1), name='val', throttle_secs=0, exporters=tf.estimator.FinalExporter(
        'final', tf.estimator.export.build_parsing_serving_input_receiver_fn({'x': tf.io.FixedLenFeature([3], tf.float32)}))))
exported = sorted((folder / 'own' / 'export' / 'final').iterdir())
loaded = tf.saved_model.load(str(exported[0]))
example = tf.train.Example(features=tf.train.Features(feature={'x': tf.train.Feature(float_list=tf.train.FloatList(value=features[0]))}))
served = loaded.signatures['serving_default'](tf.constant([example.SerializeToString()]))
print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'metric': float(metric.result()), 'states': {k: float(v) for k, v in states[0].items()},
                  'served': {k: v.numpy().tolist() for k, v in served.items()}, 'logs': sorted(p.name for p in (folder / 'own').glob('eval*')), 'eager': tf.executing_eagerly()}))
