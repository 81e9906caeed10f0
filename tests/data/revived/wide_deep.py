"""The census tutorial in small: a canned DNNLinearCombinedClassifier over CSV files, flags by absl, train_and_evaluate."""

import json
import os

from absl import app as absl_app
from absl import flags
import numpy as np
import tensorflow as tf

_CSV_COLUMNS = ["age", "workclass", "education", "hours", "income_bracket"]
_CSV_COLUMN_DEFAULTS = [[0], [""], [""], [0], [""]]
FLAGS = flags.FLAGS
flags.DEFINE_string("model_dir", None, "Where to work.")
flags.DEFINE_enum("model_type", "wide_deep", ["wide", "deep", "wide_deep"], "Which model.")


def write_data(path):
    random = np.random.RandomState(0)
    with tf.gfile.Open(path, "w") as out:
        for _ in range(48):
            age, hours = random.randint(18, 70), random.randint(10, 60)
            work = ["Private", "State-gov"][random.randint(2)]
            school = ["Bachelors", "Masters", "HS-grad"][random.randint(3)]
            rich = age > 35 and school != "HS-grad"
            out.write("%d,%s,%s,%d,%s\n" % (age, work, school, hours, ">50K" if rich else "<=50K"))


def build_model_columns():
    age = tf.feature_column.numeric_column("age")
    hours = tf.feature_column.numeric_column("hours")
    education = tf.feature_column.categorical_column_with_vocabulary_list("education", ["Bachelors", "HS-grad", "Masters"])
    workclass = tf.feature_column.categorical_column_with_hash_bucket("workclass", hash_bucket_size=20)
    age_buckets = tf.feature_column.bucketized_column(age, boundaries=[25, 35, 50])
    crossed = [tf.feature_column.crossed_column([age_buckets, "education"], hash_bucket_size=50)]
    wide = [education, workclass, age_buckets] + crossed
    deep = [age, hours, tf.feature_column.indicator_column(education)]
    return wide, deep


def build_estimator(model_dir, model_type):
    wide_columns, deep_columns = build_model_columns()
    hidden_units = [8, 4]
    run_config = tf.estimator.RunConfig(tf_random_seed=5).replace(session_config=tf.ConfigProto(device_count={"GPU": 0}))
    if model_type == "wide":
        return tf.estimator.LinearClassifier(model_dir=model_dir, feature_columns=wide_columns, config=run_config)
    if model_type == "deep":
        return tf.estimator.DNNClassifier(hidden_units, deep_columns, model_dir=model_dir, config=run_config)
    return tf.estimator.DNNLinearCombinedClassifier(
        model_dir=model_dir, linear_feature_columns=wide_columns, dnn_feature_columns=deep_columns,
        dnn_hidden_units=hidden_units, config=run_config,
    )


def input_fn(data_file, num_epochs, batch_size):
    def parse_csv(value):
        columns = tf.decode_csv(value, record_defaults=_CSV_COLUMN_DEFAULTS)
        features = dict(zip(_CSV_COLUMNS, columns))
        labels = features.pop("income_bracket")
        return features, tf.equal(labels, ">50K")

    dataset = tf.data.TextLineDataset(data_file).map(parse_csv, num_parallel_calls=5)
    return dataset.repeat(num_epochs).batch(batch_size)


def main(_):
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.gfile.MakeDirs(FLAGS.model_dir)
    path = os.path.join(FLAGS.model_dir, "adult.data")
    write_data(path)
    wide = build_estimator(os.path.join(FLAGS.model_dir, "wide"), "wide")
    wide.train(lambda: input_fn(path, 4, 16))
    linear = wide.evaluate(lambda: input_fn(path, 1, 16))
    model = build_estimator(os.path.join(FLAGS.model_dir, "model"), FLAGS.model_type)
    for _ in range(2):
        model.train(lambda: input_fn(path, 2, 16))
        results = model.evaluate(lambda: input_fn(path, 1, 16))
    names = model.get_variable_names()
    # The network starts at random: what is linear does not.
    print(json.dumps({
        "linear": {k: float(v) for k, v in sorted(linear.items())}, "keys": sorted(results), "names": sorted(names),
        "step": int(results["global_step"]), "fine": bool(results["auc"] > 0.3),
    }))


if __name__ == "__main__":
    absl_app.run(main)
