"""The same flowers with a name for each measure, through feature columns and an input layer."""

import json
import sys

import numpy as np
import tensorflow as tf

NAMES = ["SepalLength", "SepalWidth", "PetalLength", "PetalWidth"]
random = np.random.RandomState(3)
species = np.arange(90) % 3
measures = random.randn(90, 4) * 0.1 + species[:, np.newaxis]
train_x = {name: measures[:, place] for place, name in enumerate(NAMES)}


def model_fn(features, labels, mode, params):
    net = tf.feature_column.input_layer(features, params["feature_columns"])
    for units in (8, 8):
        net = tf.layers.dense(net, units, tf.nn.tanh)
    logits = tf.layers.dense(net, 3)
    classes = tf.argmax(logits, axis=1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"class": classes})
    loss = tf.losses.softmax_cross_entropy(tf.one_hot(labels, 3), logits)
    metrics = {"accuracy": tf.metrics.accuracy(labels, classes)}
    train_op = tf.train.AdamOptimizer(0.05).minimize(loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


columns = [tf.feature_column.numeric_column(key=key) for key in train_x]
estimator = tf.estimator.Estimator(model_fn, sys.argv[1], params={"feature_columns": columns})
train_input_fn = tf.estimator.inputs.numpy_input_fn(train_x, species, batch_size=30, num_epochs=40, shuffle=True)
eval_input_fn = tf.estimator.inputs.numpy_input_fn(train_x, species, batch_size=32, num_epochs=1, shuffle=False)
estimator.train(train_input_fn)
result = estimator.evaluate(eval_input_fn)
classes = [int(row["class"]) for row in estimator.predict(eval_input_fn)]
print(
    json.dumps(
        {
            "global_step": int(result["global_step"]),
            "accurate": bool(result["accuracy"] > 0.95),
            "rows": len(classes),
            "right": bool(np.mean(np.array(classes) == species) > 0.95),
        }
    )
)
