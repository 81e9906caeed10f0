"""TensorFlow 1 spelling: two input layers over feature columns, side by side; and a raw categorical column, refused."""

import json
import sys

import numpy as np
import tensorflow as tf

age = tf.feature_column.numeric_column("age", normalizer_fn=lambda years: (years - 40.0) / 20.0)
education = tf.feature_column.categorical_column_with_vocabulary_list("education", ["school", "college", "doctorate"])


def my_model(features, labels, mode, params):
    numbers = tf.feature_column.input_layer(features, [params["number"]])
    words = tf.feature_column.input_layer(features, [params["word"]])
    net = tf.concat([numbers, words], axis=1)
    net = tf.layers.dense(net, 8, activation=tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=1))
    logits = tf.layers.dense(net, 2, kernel_initializer=tf.glorot_uniform_initializer(seed=2))
    classes = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"classes": classes, "logits": logits, "input": tf.concat([numbers, words], 1)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, classes)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(repeat):
    random = np.random.RandomState(0)
    years = random.uniform(20, 60, 60).astype(np.float32)
    words = random.choice(["school", "college", "doctorate", "other"], 60)
    labels = ((years > 40) ^ (words == "school")).astype(np.int32)
    dataset = tf.data.Dataset.from_tensor_slices(({"age": years, "education": words}, labels)).batch(20)
    return dataset.repeat() if repeat else dataset


def main():
    params = {"number": age, "word": tf.feature_column.indicator_column(education)}
    estimator = tf.estimator.Estimator(my_model, model_dir=sys.argv[1], params=params)
    estimator.train(lambda: input_fn(True), steps=100)
    metrics = estimator.evaluate(lambda: input_fn(False))
    rows = list(estimator.predict(lambda: input_fn(False)))
    try:
        tf.estimator.Estimator(my_model, params={"number": age, "word": education}).train(lambda: input_fn(True), steps=1)
    except ValueError as error:
        refused = str(error)
    else:
        refused = None
    print(
        json.dumps(
            {
                "metrics": {key: float(value) for key, value in metrics.items()},
                "input": [[float(number) for number in row["input"]] for row in rows[:2]],
                "logits": [[float(number) for number in row["logits"]] for row in rows[:2]],
                "variables": sorted(estimator.get_variable_names()),
                "refused": refused,
            }
        )
    )


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    main()
