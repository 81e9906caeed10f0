"""State of Keras 3 layers: what one step reads and assigns happens in the order of the program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.model.interop.builds import X, batches, built, classifier, estimator, keras

L = keras.layers


def test_a_layer_called_twice_in_a_step_takes_in_both_batches_in_order() -> None:
    layer: list[Any] = []

    def network(x: Any) -> Any:
        layer.append(L.BatchNormalization(momentum=0.5))
        return layer[-1](x[:32]) + layer[-1](x[32:])

    build = built(network)
    with build.graph.as_default(), tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.global_variables_initializer())
        session.run(build.trace.updates)
        mean = session.run(layer[-1].moving_mean.value)
    np.testing.assert_allclose(mean, 0.5 * (0.5 * X[:32].mean(axis=0)) + 0.5 * X[32:].mean(axis=0), rtol=1e-5)


class Counter(L.Layer):
    """Counts its calls in training, and shows the count after the call; two kinds of variables."""

    def build(self, shape: Any) -> None:
        self.seen = self.add_weight(name="seen", shape=(), initializer="zeros", trainable=False)
        self.plain = tf.Variable(0.0, trainable=False, name="plain")

    def call(self, x: Any, training: bool = False) -> Any:
        if training:
            self.seen.assign_add(1.0)
            self.plain.assign_add(1.0)
        return x * 0 + self.seen


def test_a_read_sees_the_assignment_before_it() -> None:
    outputs = [rows[0, 0] for rows in built(lambda x: Counter()(x)).runs(3)]
    assert outputs == [1.0, 2.0, 3.0]


def test_a_layers_own_tensorflow_variables_are_updated_too(tmp_path: Path) -> None:
    est = estimator(tmp_path, classifier(lambda x: L.Dense(2)(x) + Counter()(x)[:, :2]))
    est.train(batches(), steps=5)
    est.evaluate(batches(repeat=1))
    values = {name: est.get_variable_value(name) for name in est.get_variable_names() if name.startswith("counter")}
    assert values == {"counter/seen": 5.0, "counter/plain": 5.0}


def test_the_state_of_a_stateful_layer_belongs_to_the_session(tmp_path: Path) -> None:
    size = 16

    def network(x: Any) -> Any:
        hidden = L.LSTM(3, stateful=True, name="carried")(tf.reshape(x, [size, 6, 1]))
        tf.identity(hidden, name="hidden")
        return L.Dense(2)(hidden)

    class See(tf.compat.v1.train.SessionRunHook):
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def before_run(self, run_context: Any) -> Any:
            return tf.compat.v1.train.SessionRunArgs("hidden:0")

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.seen.append(run_values.results)

    hook = See()
    est = estimator(tmp_path, classifier(network, lambda: keras.optimizers.SGD(0.0)))
    est.train(lambda: batches(16)().take(1).repeat(2), hooks=[hook])
    assert not np.array_equal(*hook.seen), "the same batch again, but the state has moved on"
    assert [name for name in est.get_variable_names() if "state" in name] == []
    size = 8
    est.evaluate(batches(8, repeat=1))  # another batch size is another state


def test_values_compare_by_value_in_layers_and_by_identity_in_model_fn() -> None:
    class Masked(L.Layer):
        def call(self, x: Any) -> Any:
            return tf.where(x != 0, x, 7.0) + tf.cast(x == 2.0, tf.float32)

    found: list[Any] = []

    def network(x: Any) -> Any:
        found.extend([x == 0, x == x])
        return Masked()(x)

    build = built(network, inputs=np.array([0.0, 1.0, 2.0], np.float32))
    assert found == [False, True]
    assert build.runs()[0].tolist() == [7.0, 1.0, 3.0]
