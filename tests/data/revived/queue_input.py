"""Files read through queues, as before tf.data: a CSV of house prices in an input_fn of readers and batches."""

import json
import os
import sys

import numpy as np
import tensorflow as tf

COLUMNS = ["rooms", "area", "age", "price"]
DEFAULTS = [[0.0], [0.0], [0.0], [0.0]]


def write_csv(folder):
    if not tf.gfile.Exists(folder):
        tf.gfile.MakeDirs(folder)
    random = np.random.RandomState(3)
    for part in range(2):
        rows = random.uniform(0, 1, [16, 3])
        price = rows.dot([3.0, 2.0, -1.0])[:, None]
        np.savetxt(os.path.join(folder, "houses-%d.csv" % part), np.hstack([rows, price]), delimiter=",", fmt="%.5f")


def input_fn(folder, batch_size, num_epochs):
    files = sorted(tf.gfile.Glob(os.path.join(folder, "*.csv")))
    filename_queue = tf.train.string_input_producer(files, num_epochs=num_epochs, shuffle=False)
    reader = tf.TextLineReader()
    _, rows = reader.read_up_to(filename_queue, num_records=batch_size)
    row_columns = tf.expand_dims(rows, -1)
    columns = tf.decode_csv(row_columns, record_defaults=DEFAULTS)
    features = dict(zip(COLUMNS, columns))
    features = tf.train.batch(features, batch_size, capacity=batch_size * 10, enqueue_many=True, num_threads=1)
    return features, features.pop("price")


def model_fn(features, labels, mode, params):
    inputs = tf.concat([features["rooms"], features["area"], features["age"]], axis=1)
    output = tf.layers.dense(inputs, 1, kernel_initializer=tf.zeros_initializer())
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"price": output})
    loss = tf.losses.mean_squared_error(labels, output)
    optimizer = tf.train.GradientDescentOptimizer(params["learning_rate"])
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    metrics = {"rmse": tf.metrics.root_mean_squared_error(labels, output)}
    return tf.estimator.EstimatorSpec(mode, {"price": output}, loss, train_op, metrics)


def main():
    tf.logging.set_verbosity(tf.logging.ERROR)
    model_dir = sys.argv[1]
    folder = os.path.join(model_dir, "data")
    write_csv(folder)
    estimator = tf.estimator.Estimator(model_fn, model_dir=model_dir, params={"learning_rate": 0.2})
    estimator.train(lambda: input_fn(folder, 8, None), max_steps=12)
    metrics = estimator.evaluate(lambda: input_fn(folder, 8, 1))
    prices = [row["price"] for row in estimator.predict(lambda: input_fn(folder, 8, 1))]
    print(json.dumps({"metrics": {k: float(v) for k, v in metrics.items()}, "rows": len(prices), "sum": float(np.sum(prices))}))


if __name__ == "__main__":
    main()
