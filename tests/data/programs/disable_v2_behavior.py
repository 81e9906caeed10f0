"""The header of many old programs: compat.v1 by name, and all new behavior off, resource variables included."""

import json
import sys

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def my_input_fn(mode, batch_size):
    features = {"x": tf.random.normal([40, 3], seed=1)}
    labels = tf.reduce_sum(features["x"], axis=1, keepdims=True)
    dataset = tf.data.Dataset.from_tensor_slices((features, labels))
    if mode == tf.estimator.ModeKeys.TRAIN:
        return dataset.shuffle(10).batch(batch_size).repeat()
    return dataset.batch(batch_size)


def model_fn(features, labels, mode, params):
    dense = tf.layers.dense(features["x"], params["units"], activation=tf.nn.relu)
    output = tf.layers.dense(dense, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"output": output, "dense_output": dense})
    loss = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mse": tf.metrics.mean_squared_error(labels, output)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.logging.set_verbosity(tf.logging.WARN)
estimator = tf.estimator.Estimator(model_fn, model_dir=sys.argv[1], params={"units": 5})
estimator.train(lambda: my_input_fn(mode=tf.estimator.ModeKeys.TRAIN, batch_size=32), steps=5)
metrics = estimator.evaluate(lambda: my_input_fn(mode=tf.estimator.ModeKeys.EVAL, batch_size=32))
predictions = estimator.predict(lambda: my_input_fn(mode=tf.estimator.ModeKeys.PREDICT, batch_size=32))
shapes = [[list(p["output"].shape), list(p["dense_output"].shape)] for p in predictions]
print(
    json.dumps(
        {
            "eager": tf.executing_eagerly(),
            "shapes": shapes[:1],
            "rows": len(shapes),
            "metrics": sorted(metrics),
            "global_step": int(metrics["global_step"]),
        }
    )
)
