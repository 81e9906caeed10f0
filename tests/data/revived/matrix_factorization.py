"""Ratings by two embeddings: tf.nn.embedding_lookup, biases, sparse updates by Adagrad, RMSE, a custom mean metric."""

import json
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
USERS, ITEMS = 12, 9


def model_fn(features, labels, mode, params):
    with tf.variable_scope("mf", partitioner=None):
        user = tf.get_variable("user_factors", [USERS, params["k"]], initializer=tf.random_normal_initializer(0, 0.3, seed=1))
        item = tf.get_variable("item_factors", [ITEMS, params["k"]], initializer=tf.random_normal_initializer(0, 0.3, seed=2))
        user_bias = tf.get_variable("user_bias", [USERS], initializer=tf.zeros_initializer())
        item_bias = tf.get_variable("item_bias", [ITEMS], initializer=tf.zeros_initializer())
    u, i = features["user"], features["item"]
    p, q = tf.gather(user, u), tf.nn.embedding_lookup(item, i)
    rating = 3.0 + tf.gather(user_bias, u) + tf.gather(item_bias, i) + tf.reduce_sum(p * q, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        values, best = tf.nn.top_k(tf.matmul(p, item, transpose_b=True), k=2)
        return tf.estimator.EstimatorSpec(mode, {"rating": rating, "best": best, "values": values})
    loss = tf.reduce_mean(tf.squared_difference(rating, labels)) + 0.01 * (tf.nn.l2_loss(p) + tf.nn.l2_loss(q))
    train_op = tf.train.AdagradOptimizer(0.3).minimize(loss, global_step=tf.train.get_global_step())
    metrics = {
        "rmse": tf.metrics.root_mean_squared_error(labels, rating),
        "over_three": tf.metrics.percentage_below(rating, 3.0),
        "mae": tf.metrics.mean(tf.abs(rating - labels)),
    }
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


random = np.random.RandomState(8)
pairs = random.randint(0, [USERS, ITEMS], [60, 2])
ratings = 1.0 + (pairs.sum(1) % 5)


def input_fn(epochs):
    return tf.estimator.inputs.numpy_input_fn(
        {"user": pairs[:, 0], "item": pairs[:, 1]}, ratings.astype(np.float32), batch_size=20, num_epochs=epochs, shuffle=False
    )


estimator = tf.estimator.Estimator(model_fn, sys.argv[1], params={"k": 3})
estimator.train(input_fn(None), steps=30)
metrics = estimator.evaluate(input_fn(1))
rows = list(estimator.predict(input_fn(1)))
print(json.dumps({"metrics": {k: float(v) for k, v in metrics.items()}, "best": [row["best"].tolist() for row in rows[:3]],
                  "rating": [float(row["rating"]) for row in rows[:3]]}))
