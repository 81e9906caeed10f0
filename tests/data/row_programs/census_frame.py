"""People's incomes in a DataFrame, read from CSV: categories and buckets in a linear model."""

import io
import json
import sys

import numpy as np
import pandas as pd
import tensorflow as tf

CSV_COLUMNS = ["age", "workclass", "education", "hours_per_week", "income_bracket"]


def make_csv(rows):
    random = np.random.RandomState(0)
    lines = []
    for _ in range(rows):
        education = random.choice(["Bachelors", "HS-grad", "Masters"])
        age = random.randint(18, 70)
        rich = education == "Masters" or (education == "Bachelors" and age > 40)
        lines.append("%d, %s, %s, %d, %s" % (age, "Private", education, 40, ">50K" if rich else "<=50K"))
    return io.StringIO("\n".join(lines))


def input_fn(data, num_epochs, shuffle, num_threads=1):
    df_data = data.dropna(how="any", axis=0)
    labels = df_data["income_bracket"].apply(lambda x: ">50K" in x).astype(int)
    return tf.estimator.inputs.pandas_input_fn(
        x=df_data, y=labels, batch_size=100, num_epochs=num_epochs, shuffle=shuffle, num_threads=num_threads
    )


education = tf.feature_column.categorical_column_with_vocabulary_list(
    "education", ["Bachelors", "HS-grad", "Masters"]
)
workclass = tf.feature_column.categorical_column_with_hash_bucket("workclass", hash_bucket_size=100)
age_buckets = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("age"), [25, 30, 35, 40, 50, 60])
crossed = tf.feature_column.crossed_column(["education", age_buckets], hash_bucket_size=500)


def model_fn(features, labels, mode):
    logits = tf.feature_column.linear_model(features, [education, workclass, age_buckets, crossed])
    probability = tf.sigmoid(logits)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"rich": probability})
    labels = tf.cast(tf.reshape(labels, [-1, 1]), tf.float32)
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    metrics = {
        "accuracy": tf.metrics.accuracy(labels, tf.round(probability)),
        "auc": tf.metrics.auc(labels, probability),
        "mean": tf.metrics.mean(labels),
    }
    train_op = tf.train.FtrlOptimizer(1.0).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


data = pd.read_csv(make_csv(500), names=CSV_COLUMNS, skipinitialspace=True, engine="python")
estimator = tf.estimator.Estimator(model_fn, sys.argv[1])
estimator.train(input_fn(data, num_epochs=None, shuffle=True, num_threads=5), steps=150)
results = estimator.evaluate(input_fn(data, num_epochs=1, shuffle=False), steps=None)
rows = list(estimator.predict(tf.estimator.inputs.pandas_input_fn(data[:7], shuffle=False)))
print(
    json.dumps(
        {
            "accurate": bool(results["accuracy"] > 0.95),
            "auc": bool(results["auc"] > 0.95),
            "mean": round(float(results["mean"]), 5),
            "global_step": int(results["global_step"]),
            "rich": [int(row["rich"][0] > 0.5) for row in rows],
        }
    )
)
