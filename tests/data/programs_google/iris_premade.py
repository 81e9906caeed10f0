"""Iris with a premade estimator, as in Get Started of TensorFlow 1.8."""

from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import argparse
import json

import numpy as np
import pandas as pd
import tensorflow as tf

CSV_COLUMN_NAMES = ['SepalLength', 'SepalWidth', 'PetalLength', 'PetalWidth', 'Species']
SPECIES = ['Setosa', 'Versicolor', 'Virginica']

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', default=20, type=int, help='batch size')
parser.add_argument('--train_steps', default=60, type=int, help='number of training steps')


def write_data(path, seed):
    random = np.random.RandomState(seed)
    rows = []
    for kind in range(3):
        centre = np.array([5.0, 3.0, 1.5, 0.3]) + kind * np.array([0.8, -0.1, 1.9, 0.8])
        for _ in range(20):
            rows.append(list(np.round(centre + random.normal(0, 0.15, 4), 2)) + [kind])
    random.shuffle(rows)
    with open(path, 'w') as out:
        out.write('60,4,setosa,versicolor,virginica\n')
        for row in rows:
            out.write(','.join(str(v) for v in row[:4]) + ',%d\n' % row[4])


def load_data(y_name='Species'):
    write_data('iris_training.csv', 1)
    write_data('iris_test.csv', 2)
    train = pd.read_csv('iris_training.csv', names=CSV_COLUMN_NAMES, header=0)
    train_x, train_y = train, train.pop(y_name)
    test = pd.read_csv('iris_test.csv', names=CSV_COLUMN_NAMES, header=0)
    test_x, test_y = test, test.pop(y_name)
    return (train_x, train_y), (test_x, test_y)


def train_input_fn(features, labels, batch_size):
    """An input function for training"""
    dataset = tf.data.Dataset.from_tensor_slices((dict(features), labels))
    dataset = dataset.shuffle(1000).repeat().batch(batch_size)
    return dataset


def eval_input_fn(features, labels, batch_size):
    """An input function for evaluation or prediction"""
    features = dict(features)
    if labels is None:
        inputs = features
    else:
        inputs = (features, labels)
    dataset = tf.data.Dataset.from_tensor_slices(inputs)
    assert batch_size is not None, "batch_size must not be None"
    dataset = dataset.batch(batch_size)
    return dataset


def main(argv):
    args = parser.parse_args(argv[1:])
    (train_x, train_y), (test_x, test_y) = load_data()

    my_feature_columns = []
    for key in train_x.keys():
        my_feature_columns.append(tf.feature_column.numeric_column(key=key))

    classifier = tf.estimator.DNNClassifier(
        feature_columns=my_feature_columns,
        hidden_units=[10, 10],
        n_classes=3,
        config=tf.estimator.RunConfig(tf_random_seed=3))
    classifier.train(
        input_fn=lambda: train_input_fn(train_x, train_y, args.batch_size),
        steps=args.train_steps * 5)
    eval_result = classifier.evaluate(input_fn=lambda: eval_input_fn(test_x, test_y, args.batch_size))
    print('\nTest set accuracy: {accuracy:0.3f}\n'.format(**eval_result))

    expected = ['Setosa', 'Versicolor', 'Virginica']
    predict_x = {
        'SepalLength': [5.1, 5.9, 6.9],
        'SepalWidth': [3.3, 3.0, 3.1],
        'PetalLength': [1.7, 4.2, 5.4],
        'PetalWidth': [0.5, 1.5, 2.1],
    }
    predictions = classifier.predict(input_fn=lambda: eval_input_fn(predict_x, labels=None, batch_size=args.batch_size))
    template = ('\nPrediction is "{}" ({:.1f}%), expected "{}"')
    found = []
    for pred_dict, expec in zip(predictions, expected):
        class_id = pred_dict['class_ids'][0]
        probability = pred_dict['probabilities'][class_id]
        print(template.format(SPECIES[class_id], 100 * probability, expec))
        found.append(SPECIES[class_id])
    print(json.dumps({
        'found': found, 'good': bool(eval_result['accuracy'] > 0.9), 'keys': sorted(eval_result),
        'step': int(eval_result['global_step']), 'names': sorted(classifier.get_variable_names())}))


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run(main)
