"""train_and_evaluate with best, latest and final exporters, then contrib.predictor on what they wrote (TensorFlow 1.14)."""
from __future__ import absolute_import, division, print_function

import glob
import json
import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib import predictor

COLUMNS = [tf.feature_column.numeric_column('sq_footage'),
           tf.feature_column.categorical_column_with_vocabulary_list('type', ['house', 'apt'])]


def train_input_fn():
    random = np.random.RandomState(3)
    sizes = random.uniform(0.5, 4, 64).astype(np.float32)
    types = random.randint(0, 2, 64)
    features = {'sq_footage': sizes, 'type': np.where(types, 'house', 'apt')}
    labels = (sizes * 2 + types).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((features, labels)).repeat().batch(16)


def eval_input_fn():
    return train_input_fn().take(4)


def serving_fn():
    inputs = {'sq_footage': tf.placeholder(tf.float32, [None]), 'type': tf.placeholder(tf.string, [None])}
    return tf.estimator.export.ServingInputReceiver(inputs, inputs)


def example_serving_fn():
    spec = tf.feature_column.make_parse_example_spec(COLUMNS)
    return tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)()


def smaller(best_eval_result, current_eval_result):
    return best_eval_result['average_loss'] > current_eval_result['average_loss']


def main(argv):
    run_config = tf.estimator.RunConfig(model_dir='outputdir', save_summary_steps=10, save_checkpoints_steps=20)
    model = tf.estimator.LinearRegressor(COLUMNS, config=run_config, optimizer=tf.train.GradientDescentOptimizer(0.002))
    model = tf.contrib.estimator.add_metrics(
        model, lambda labels, predictions: {'rmse': tf.metrics.root_mean_squared_error(labels, tf.squeeze(predictions['predictions'], 1))})
    exporters = [tf.estimator.BestExporter(serving_input_receiver_fn=serving_fn, compare_fn=smaller, exports_to_keep=1),
                 tf.estimator.LatestExporter('latest', serving_fn, exports_to_keep=1),
                 tf.estimator.FinalExporter('final', example_serving_fn)]
    train_spec = tf.estimator.TrainSpec(input_fn=train_input_fn, max_steps=60)
    eval_spec = tf.estimator.EvalSpec(input_fn=eval_input_fn, steps=4, throttle_secs=0, start_delay_secs=0, exporters=exporters)
    found, exports = tf.estimator.train_and_evaluate(model, train_spec, eval_spec)
    folders = {name: sorted(os.listdir('outputdir/export/' + name)) for name in ('best_exporter', 'latest', 'final')}
    predict_fn = predictor.from_saved_model(os.path.join('outputdir/export/best_exporter', folders['best_exporter'][-1]), signature_def_key='predict')
    answers = predict_fn({'sq_footage': [1.0, 2.0], 'type': ['house', 'apt']})
    example = tf.train.Example(features=tf.train.Features(feature={
        'sq_footage': tf.train.Feature(float_list=tf.train.FloatList(value=[1.0])),
        'type': tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'house']))}))
    final = tf.contrib.predictor.from_saved_model(glob.glob('outputdir/export/final/*')[0])
    keys = sorted(final.feed_tensors), sorted(final.fetch_tensors)
    again = final({list(final.feed_tensors)[0]: [example.SerializeToString()]})
    print(json.dumps({
        'found': {k: float(v) for k, v in found.items()}, 'answers': {k: np.asarray(v).tolist() for k, v in answers.items()}, 'keys': keys,
        'again': {k: np.asarray(v).tolist() for k, v in again.items()}, 'number': {k: len(v) for k, v in folders.items()}, 'exports': len(exports)}))


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.app.run()
