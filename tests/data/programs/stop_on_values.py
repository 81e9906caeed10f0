"""TensorFlow 2 spelling: training stops on a feature interaction, on a model output, and by an old hook; step times."""

import json
import sys

import lightwell as lw
import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    both = tf.concat([features["age"], features["income"]], axis=1)
    output = tf.compat.v1.layers.dense(both, 1, name="output")
    loss = tf.compat.v1.losses.mean_squared_error(labels, output)
    train_op = tf.compat.v1.train.AdamOptimizer(0.1).minimize(
        loss, global_step=tf.compat.v1.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, {"output": output}, loss, train_op)


def input_fn():
    # Income grows from step to step, so that the interaction of both features does.
    age = np.full((40, 1), 2.0, np.float32)
    income = np.arange(40, dtype=np.float32).reshape(40, 1)
    return tf.data.Dataset.from_tensor_slices(({"age": age, "income": income}, age + income)).batch(4)


class StopOnInteraction(tf.estimator.SessionRunHook):
    def before_run(self, run_context):
        return tf.estimator.SessionRunArgs(run_context.features)

    def after_run(self, run_context, run_values):
        features = run_values.results
        if (features["age"] * features["income"]).max() > 40:
            run_context.request_stop()


def steps_until(hook, model_dir):
    estimator = tf.estimator.Estimator(model_fn, model_dir)
    estimator.train(input_fn, hooks=[hook])
    return int(estimator.get_variable_value("global_step"))


def main():
    times = []

    def watch(step):
        times.append([step["timing/step"], step["timing/examples_per_second"]])
        interaction = step["features/age"] * step["features/income"]
        if interaction.max() > 40:
            step.stop()

    seconds_and_rate = ("timing/step", "timing/examples_per_second")
    stopping = {
        "old_hook": StopOnInteraction(),
        "watch": lw.Watch("features/*", *seconds_and_rate, every=1, do=watch),
        "stop_when_features": lw.stop_when("features/*", lambda step: step["features/income"].max() > 20),
        "stop_when_output": lw.stop_when("predictions/output", lambda output: np.isfinite(output).all()),
        "stop_when_loss": lw.stop_when("loss", lambda loss: loss < -1),
    }
    steps = {name: steps_until(hook, f"{sys.argv[1]}/{name}") for name, hook in stopping.items()}
    print(json.dumps({"steps": steps, "times": times}))


if __name__ == "__main__":
    main()
