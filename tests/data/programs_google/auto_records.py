"""Car prices from TFRecord files of tf.Example, parsing specs made from columns (TensorFlow 1.12 cookbook style)."""
from __future__ import absolute_import, division, print_function

import argparse
import json
import os

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', default=10, type=int, help='batch size')
parser.add_argument('--train_steps', default=40, type=int)
parser.add_argument('--price_norm_factor', default=1000., type=float)

MAKES = ['audi', 'bmw', 'honda', 'mazda', 'volvo']


def _bytes(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value.encode()]))


def _floats(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=value))


def write_records(path, seed, number):
    random = np.random.RandomState(seed)
    with tf.python_io.TFRecordWriter(path) as writer:
        for _ in range(number):
            make, body = random.randint(5), random.randint(2)
            sizes = random.uniform(1, 2, 2)
            price = 4000 * make + 2000 * body + 3000 * sizes.sum()
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                'make': _bytes(MAKES[make]), 'body-style': _bytes(['sedan', 'wagon'][body]),
                'sizes': _floats(sizes), 'price': _floats([price])})).SerializeToString())


def columns():
    make = tf.feature_column.categorical_column_with_hash_bucket('make', 12)
    body = tf.feature_column.categorical_column_with_vocabulary_list('body-style', ['sedan', 'wagon', 'hatchback'])
    return [tf.feature_column.indicator_column(make), tf.feature_column.indicator_column(body),
            tf.feature_column.numeric_column('sizes', shape=(2,), normalizer_fn=lambda x: (x - 1.5) * 2)]


def make_input_fn(path, args, training):
    spec = tf.feature_column.make_parse_example_spec(columns() + [tf.feature_column.numeric_column('price')])

    def normalize(features):
        price = features.pop('price')
        return features, price / args.price_norm_factor

    def input_fn():
        files = tf.data.Dataset.list_files(path)
        ds = files.apply(tf.contrib.data.parallel_interleave(tf.data.TFRecordDataset, cycle_length=1))
        if training:
            ds = ds.repeat()
        ds = ds.batch(args.batch_size).map(lambda one: tf.parse_example(one, spec)).map(normalize)
        return ds.prefetch(1)
    return input_fn


def my_dnn_regression_fn(features, labels, mode, params):
    top = tf.feature_column.input_layer(features, params['feature_columns'])
    for number, units in enumerate(params.get('hidden_units', [20])):
        top = tf.layers.dense(inputs=top, units=units, activation=tf.nn.relu, kernel_initializer=tf.variance_scaling_initializer(seed=number))
    output_layer = tf.layers.dense(inputs=top, units=1, kernel_initializer=tf.variance_scaling_initializer(seed=9))
    predictions = tf.squeeze(output_layer, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode=mode, predictions={'price': predictions})
    average_loss = tf.losses.mean_squared_error(labels[:, 0], predictions)
    batch_size = tf.shape(labels)[0]
    total_loss = tf.to_float(batch_size) * average_loss
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = params.get('optimizer', tf.train.AdamOptimizer)(params.get('learning_rate', None))
        train_op = optimizer.minimize(loss=average_loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode=mode, loss=total_loss, train_op=train_op)
    assert mode == tf.estimator.ModeKeys.EVAL
    rmse = tf.metrics.root_mean_squared_error(tf.cast(labels[:, 0], predictions.dtype), predictions)
    return tf.estimator.EstimatorSpec(mode=mode, loss=total_loss, eval_metric_ops={'rmse': rmse, 'mae': tf.metrics.mean_absolute_error(labels[:, 0], predictions)})


def main(argv):
    args = parser.parse_args(argv[1:])
    write_records('cars-train.tfrecord', 1, 50)
    write_records('cars-test.tfrecord', 2, 20)
    print(sum(1 for _ in tf.python_io.tf_record_iterator('cars-train.tfrecord')), 'cars')
    model = tf.estimator.Estimator(
        model_fn=my_dnn_regression_fn,
        params={'feature_columns': columns(), 'learning_rate': 0.01, 'optimizer': tf.train.AdamOptimizer, 'hidden_units': [12, 8]})
    model.train(make_input_fn('cars-train.tfrecord', args, True), steps=args.train_steps)
    result = model.evaluate(make_input_fn('cars-test.tfrecord', args, False))
    rows = [float(row['price']) for row in model.predict(make_input_fn('cars-test.tfrecord', args, False))]
    print("\nRMS error for the test set: ${:.0f}\n".format(args.price_norm_factor * result['rmse']))
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'rows': rows[:5], 'files': os.path.isdir(model.model_dir)}))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.app.run(main=main)
