"""TensorFlow 1 spelling: everything `predict` and `evaluate` offer, over data of random tensors with fixed seeds."""

import json
import sys

import tensorflow as tf

FEATURES, EXAMPLES = 4, 40


def my_input_fn(mode, batch_size):
    features = {"x": tf.random.normal([EXAMPLES, FEATURES], seed=1)}
    labels = tf.reduce_sum(features["x"], axis=1, keepdims=True) + 0.1 * tf.random.normal([EXAMPLES, 1], seed=2)
    dataset = tf.data.Dataset.from_tensor_slices((features, labels))
    if mode == tf.estimator.ModeKeys.TRAIN:
        dataset = dataset.shuffle(10, seed=3).batch(batch_size).repeat()
    else:
        dataset = dataset.batch(batch_size)
    return dataset


def my_model_fn(features, labels, mode, params):
    net = features["x"]
    for number, units in enumerate(params["hidden_units"]):
        net = tf.layers.dense(
            net, units, activation=tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=number)
        )
    output = tf.layers.dense(net, 1, kernel_initializer=tf.glorot_uniform_initializer(seed=9))

    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"output": output, "dense_output": net}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)

    loss = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mse": tf.metrics.mean_squared_error(labels, output), "mean": tf.metrics.mean(output)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)

    optimizer = tf.train.AdamOptimizer(0.01)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


class CountRuns(tf.train.SessionRunHook):
    runs = 0

    def after_run(self, run_context, run_values):
        self.runs += 1


def numbers(value):
    return [[round(float(number), 6) for number in row] for row in value]


def main():
    config = tf.estimator.RunConfig(save_checkpoints_steps=5, tf_random_seed=7)
    estimator = tf.estimator.Estimator(
        my_model_fn, model_dir=sys.argv[1], config=config, params={"hidden_units": [6, 5]}
    )
    estimator.train(lambda: my_input_fn(mode=tf.estimator.ModeKeys.TRAIN, batch_size=32), steps=10)
    eval_fn = lambda: my_input_fn(mode=tf.estimator.ModeKeys.EVAL, batch_size=32)
    predict_fn = lambda: my_input_fn(mode=tf.estimator.ModeKeys.PREDICT, batch_size=32)
    metrics = estimator.evaluate(eval_fn)
    one_batch = estimator.evaluate(eval_fn, steps=1, name="one")

    rows = list(estimator.predict(predict_fn))
    hook = CountRuns()
    batches = list(estimator.predict(predict_fn, predict_keys=["output"], hooks=[hook], yield_single_examples=False))
    at_start = sys.argv[1] + "/model.ckpt-0"
    older = next(iter(estimator.predict(predict_fn, predict_keys="output", checkpoint_path=at_start)))
    result = {
        "metrics": {key: float(value) for key, value in metrics.items()},
        "one_batch": {key: float(value) for key, value in one_batch.items()},
        "rows": len(rows),
        "kinds": sorted({type(value).__name__ for row in rows for value in row.values()}),
        "dense_output": numbers(row["dense_output"] for row in rows[:3]),
        "output": numbers(row["output"] for row in rows[:3]),
        "batches": [[sorted(batch), list(batch["output"].shape)] for batch in batches],
        "hook_runs": hook.runs,
        "output_at_start": numbers([older["output"]]),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.WARN)
    main()
