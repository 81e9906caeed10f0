"""TensorFlow 2 spelling: a hook reads the weights of a functional layer, `dense_layer.kernel`. TensorFlow had none."""

import json
import sys

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    dense_layer = tf.compat.v1.layers.dense(features["x"], 4, activation=tf.nn.relu, name="my_dense_layer")
    tf.compat.v1.add_to_collection("my_weights", dense_layer.kernel)
    tf.compat.v1.add_to_collection("my_weights", dense_layer.bias)
    predictions = tf.compat.v1.layers.dense(dense_layer, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"output": predictions})
    loss = tf.compat.v1.losses.mean_squared_error(labels, predictions)
    train_op = tf.compat.v1.train.AdamOptimizer(0.05).minimize(
        loss, global_step=tf.compat.v1.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


class WeightsHook(tf.estimator.SessionRunHook):
    def __init__(self):
        self.kernels = []
        self.biases = []

    def before_run(self, run_context):
        kernel, bias = tf.compat.v1.get_collection("my_weights")
        return tf.estimator.SessionRunArgs(fetches=[kernel, bias])

    def after_run(self, run_context, run_values):
        kernel, bias = run_values.results
        self.kernels.append(kernel)
        self.biases.append(bias)


def input_fn():
    x = np.random.RandomState(0).randn(8, 3).astype(np.float32)
    y = x.sum(axis=1, keepdims=True)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(4)


def main():
    estimator = tf.estimator.Estimator(model_fn, model_dir=sys.argv[1])
    hook, later = WeightsHook(), WeightsHook()
    estimator.train(lambda: input_fn().repeat(), steps=4, hooks=[hook])
    estimator.evaluate(input_fn, hooks=[later])
    rows = list(estimator.predict(input_fn, hooks=[later]))
    print(
        json.dumps(
            {
                "kernel": [list(kernel.shape) for kernel in hook.kernels],
                "bias": [list(bias.shape) for bias in hook.biases],
                "moved": bool(np.abs(hook.kernels[0] - hook.kernels[-1]).max() > 0),
                "still": all(np.array_equal(later.kernels[0], kernel) for kernel in later.kernels),
                "rows": len(rows),
            }
        )
    )


if __name__ == "__main__":
    main()
