"""Programs over `tf.contrib.layers.optimize_loss`; see `playing.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

X = np.random.RandomState(0).normal(size=[6, 4]).astype(np.float32)
Y = np.random.RandomState(1).normal(size=[6, 1]).astype(np.float32)


def _loss(tf: Any, normalised: bool = False) -> Any:
    hidden = tf.contrib.layers.fully_connected(tf.constant(X), 3, tf.nn.tanh, scope="hidden")
    if normalised:
        hidden = tf.contrib.layers.batch_norm(hidden)
    out = tf.contrib.layers.linear(hidden, 1, scope="out")
    return tf.reduce_mean(tf.square(out - tf.constant(Y)))


def _minimised(tf: Any, learning_rate: Any = 0.1, optimizer: Any = "SGD", **options: Any) -> Any:
    normalised = options.pop("normalised", False)
    loss = _loss(tf, normalised)
    step = options.pop("global_step", tf.train.get_global_step())
    train = tf.contrib.layers.optimize_loss(loss, step, learning_rate, optimizer, **options)
    return {"train": train}


def by_name(tf: Any) -> Any:
    return _minimised(tf, normalised=True)


def adam(tf: Any) -> Any:
    return _minimised(tf, 0.01, "Adam", summaries=tf.contrib.layers.OPTIMIZER_SUMMARIES)


def adagrad(tf: Any) -> Any:
    return _minimised(tf, 0.01, "Adagrad", name="training")


def momentum(tf: Any) -> Any:
    return _minimised(tf, 0.01, "Momentum", summaries=["loss", "gradient_norm"])


def ftrl(tf: Any) -> Any:
    return _minimised(tf, 0.01, "Ftrl", summaries=[])


def rmsprop(tf: Any) -> Any:
    return _minimised(tf, 0.01, "RMSProp")


def of_a_class(tf: Any) -> Any:
    return _minimised(tf, 0.01, tf.train.AdamOptimizer, clip_gradients=0.5)


def of_an_instance(tf: Any) -> Any:
    return _minimised(tf, None, tf.train.GradientDescentOptimizer(0.3), global_step=None)


def of_a_function(tf: Any) -> Any:
    return _minimised(tf, 0.2, lambda rate: tf.train.MomentumOptimizer(rate, 0.5))


def of_a_function_without_arguments(tf: Any) -> Any:
    return _minimised(tf, None, lambda: tf.train.MomentumOptimizer(0.1, 0.5))


def decayed(tf: Any) -> Any:
    def decay(rate: Any, step: Any) -> Any:
        return tf.train.exponential_decay(rate, step, 1, 0.5)

    return _minimised(tf, 0.2, learning_rate_decay_fn=decay)


def rate_of_a_tensor(tf: Any) -> Any:
    return _minimised(tf, tf.constant(0.05))


def clipped_by_a_function(tf: Any) -> Any:
    def clip(pairs: Any) -> Any:
        return [(tf.clip_by_value(gradient, -0.1, 0.1), variable) for gradient, variable in pairs]

    return _minimised(tf, clip_gradients=clip)


def multiplied(tf: Any) -> Any:
    return _minimised(tf, gradient_multipliers={"hidden/weights:0": 2.0, "out/biases": 0.5})


def multiplied_and_clipped(tf: Any) -> Any:
    options = {"gradient_multipliers": {"hidden/weights:0": 20.0}, "clip_gradients": 0.5}
    return _minimised(tf, summaries=["gradients"], **options)


def of_some_variables(tf: Any) -> Any:
    loss = _loss(tf)
    step, chosen = tf.train.get_global_step(), tf.trainable_variables()[:1]
    return {
        "train": tf.contrib.layers.optimize_loss(
            loss, step, 0.1, "SGD", variables=chosen, update_ops=[], increment_global_step=False
        )
    }


def with_noise(tf: Any) -> Any:
    return _minimised(tf, 0.0, gradient_noise_scale=10.0)


def with_updates(tf: Any) -> Any:
    counter = tf.get_variable("counter", [], initializer=tf.zeros_initializer(), trainable=False)
    return _minimised(tf, normalised=True, update_ops=[tf.assign_add(counter, 1.0)])


PROGRAMS: dict[str, Any] = {
    one.__name__: one
    for one in (
        by_name,
        adam,
        adagrad,
        momentum,
        ftrl,
        rmsprop,
        of_a_class,
        of_an_instance,
        of_a_function,
        of_a_function_without_arguments,
        decayed,
        rate_of_a_tensor,
        clipped_by_a_function,
        multiplied_and_clipped,
        multiplied,
        of_some_variables,
        with_noise,
        with_updates,
    )
}
