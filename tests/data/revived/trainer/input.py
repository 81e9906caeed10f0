"""Files of the cloud template: reading."""

import multiprocessing

import tensorflow as tf

from trainer import featurizer


def parse_csv(rows_string_tensor):
    """Takes the string input tensor and returns a dict of rank-2 tensors."""
    columns = tf.decode_csv(rows_string_tensor, record_defaults=featurizer.CSV_COLUMN_DEFAULTS)
    features = dict(zip(featurizer.CSV_COLUMNS, columns))
    for col in featurizer.UNUSED_COLUMNS:
        features.pop(col)
    return features


def parse_label_column(label_string_tensor):
    table = tf.equal(label_string_tensor, featurizer.LABELS[1])
    return tf.to_int32(table)


def input_fn(filenames, num_epochs=None, shuffle=True, batch_size=8):
    dataset = tf.data.TextLineDataset(filenames).map(parse_csv, num_parallel_calls=multiprocessing.cpu_count())
    if shuffle:
        dataset = dataset.shuffle(buffer_size=batch_size * 10, seed=1, reshuffle_each_iteration=False)
    iterator = dataset.repeat(num_epochs).batch(batch_size).prefetch(1).make_one_shot_iterator()
    features = iterator.get_next()
    return features, parse_label_column(features.pop(featurizer.LABEL_COLUMN))


def csv_serving_input_fn():
    csv_row = tf.placeholder(shape=[None], dtype=tf.string)
    features = parse_csv(csv_row)
    features.pop(featurizer.LABEL_COLUMN)
    return tf.estimator.export.ServingInputReceiver(features, {"csv_row": csv_row})


def json_serving_input_fn():
    inputs = {}
    for feat in featurizer.INPUT_COLUMNS:
        inputs[feat.name] = tf.placeholder(shape=[None], dtype=feat.dtype)
    return tf.estimator.export.ServingInputReceiver(inputs, inputs)


SERVING_FUNCTIONS = {"JSON": json_serving_input_fn, "CSV": csv_serving_input_fn}
