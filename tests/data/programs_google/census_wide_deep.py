"""Census income, linear models with crosses, as in the wide and deep tutorial of TensorFlow 1.10: absl flags, decode_csv."""

from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import json
import os
import shutil

from absl import app as absl_app
from absl import flags
import numpy as np
import tensorflow as tf

_CSV_COLUMNS = ['age', 'workclass', 'education', 'education_num', 'occupation', 'hours_per_week', 'income_bracket']
_CSV_COLUMN_DEFAULTS = [[0], [''], [''], [0], [''], [0], ['']]
_HASH_BUCKET_SIZE = 50
LOSS_PREFIX = {'wide': 'linear/', 'deep': 'dnn/'}

flags.DEFINE_string('model_dir', 'census_model', 'where the model goes', short_name='md')
flags.DEFINE_enum('model_type', 'wide', ['wide', 'deep', 'wide_deep'], 'the kind')
flags.DEFINE_integer('train_epochs', 4, 'epochs', short_name='te')
flags.DEFINE_integer('epochs_between_evals', 2, 'epochs between evaluations')
flags.DEFINE_integer('batch_size', 16, 'batch', short_name='bs')
FLAGS = flags.FLAGS


def write_census(path, seed, number):
    random = np.random.RandomState(seed)
    jobs, schools, works = ['Sales', 'Tech-support', 'Farming'], ['Bachelors', 'HS-grad', 'Masters', '11th'], ['Private', 'State-gov', '?']
    with open(path, 'w') as out:
        for _ in range(number):
            age, school, job = random.randint(18, 80), random.randint(4), random.randint(3)
            rich = age + 10 * (school == 2) + 15 * job + random.randint(10) > 65
            out.write('%d,%s,%s,%d,%s,%d,%s\n' % (
                age, works[random.randint(3)], schools[school], 5 + school, jobs[job], random.randint(20, 60), '>50K' if rich else '<=50K'))


def build_model_columns():
    age = tf.feature_column.numeric_column('age')
    hours_per_week = tf.feature_column.numeric_column('hours_per_week')
    education = tf.feature_column.categorical_column_with_vocabulary_list('education', ['Bachelors', 'HS-grad', '11th', 'Masters'])
    workclass = tf.feature_column.categorical_column_with_vocabulary_list('workclass', ['Private', 'State-gov', '?'])
    occupation = tf.feature_column.categorical_column_with_hash_bucket('occupation', hash_bucket_size=_HASH_BUCKET_SIZE)
    age_buckets = tf.feature_column.bucketized_column(age, boundaries=[18, 25, 30, 35, 40, 45, 50, 55, 60, 65])
    base_columns = [education, workclass, occupation, age_buckets]
    crossed_columns = [
        tf.feature_column.crossed_column(['education', 'occupation'], hash_bucket_size=_HASH_BUCKET_SIZE),
        tf.feature_column.crossed_column([age_buckets, 'education', 'occupation'], hash_bucket_size=_HASH_BUCKET_SIZE),
    ]
    wide_columns = base_columns + crossed_columns
    deep_columns = [age, hours_per_week, tf.feature_column.indicator_column(workclass), tf.feature_column.indicator_column(education),
                    tf.feature_column.embedding_column(occupation, dimension=8)]
    return wide_columns, deep_columns


def build_estimator(model_dir, model_type):
    wide_columns, deep_columns = build_model_columns()
    hidden_units = [20, 10]
    run_config = tf.estimator.RunConfig().replace(session_config=tf.ConfigProto(device_count={'GPU': 0}))
    if model_type == 'wide':
        return tf.estimator.LinearClassifier(model_dir=model_dir, feature_columns=wide_columns, config=run_config)
    elif model_type == 'deep':
        return tf.estimator.DNNClassifier(model_dir=model_dir, feature_columns=deep_columns, hidden_units=hidden_units, config=run_config)
    else:
        return tf.estimator.DNNLinearCombinedClassifier(
            model_dir=model_dir, linear_feature_columns=wide_columns, dnn_feature_columns=deep_columns,
            dnn_hidden_units=hidden_units, config=run_config)


def input_fn(data_file, num_epochs, shuffle, batch_size):
    assert tf.gfile.Exists(data_file), ('%s not found. Please make sure you have run census_dataset.py' % data_file)

    def parse_csv(value):
        tf.logging.info('Parsing {}'.format(data_file))
        columns = tf.decode_csv(value, record_defaults=_CSV_COLUMN_DEFAULTS)
        features = dict(zip(_CSV_COLUMNS, columns))
        labels = features.pop('income_bracket')
        classes = tf.equal(labels, '>50K')
        return features, classes

    dataset = tf.data.TextLineDataset(data_file)
    if shuffle:
        dataset = dataset.shuffle(buffer_size=100, seed=1)
    dataset = dataset.map(parse_csv, num_parallel_calls=5)
    dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size)
    return dataset


def main(_):
    shutil.rmtree(FLAGS.model_dir, ignore_errors=True)
    tf.gfile.MakeDirs('data')
    train_file, test_file = os.path.join('data', 'adult.data'), os.path.join('data', 'adult.test')
    write_census(train_file, 1, 96)
    write_census(test_file, 2, 48)
    history = []
    for model_type in ('wide', 'wide_deep'):
        model = build_estimator(os.path.join(FLAGS.model_dir, model_type), model_type)
        for n in range(FLAGS.train_epochs // FLAGS.epochs_between_evals):
            model.train(input_fn=lambda: input_fn(train_file, FLAGS.epochs_between_evals, False, FLAGS.batch_size))
            results = model.evaluate(input_fn=lambda: input_fn(test_file, 1, False, FLAGS.batch_size))
            print('Results at epoch', (n + 1) * FLAGS.epochs_between_evals)
            for key in sorted(results):
                print('%s: %s' % (key, results[key]))
            if model_type == 'wide':
                history.append({key: float(value) for key, value in results.items()})
            else:
                history.append([sorted(results), int(results['global_step'])])
        history.append(sorted(model.get_variable_names()))
    print(json.dumps(history))


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.INFO)
    absl_app.run(main)
