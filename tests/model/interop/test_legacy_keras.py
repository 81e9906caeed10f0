"""What is particular to tf_keras: its names, its optimizers, and layers that belong to one graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.interop.builds import X, Y, batches, built, classifier, estimator, keras, v1

import lightwell as lw

L = keras.layers
START = [np.random.RandomState(0).randn(6, 2).astype(np.float32), np.zeros(2, np.float32)]
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "adam": lambda: keras.optimizers.Adam(0.05),
    "sgd": lambda: keras.optimizers.SGD(0.1, momentum=0.9),
    "adamw": lambda: keras.optimizers.AdamW(0.01, weight_decay=0.1),
    "ema": lambda: keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=3),
    "schedule": lambda: keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.05, 4, 0.5)),
    "legacy adam": lambda: keras.optimizers.legacy.Adam(0.05),
    "legacy rmsprop": lambda: keras.optimizers.legacy.RMSprop(0.01),
}


def network() -> Any:
    start = [keras.initializers.Constant(value) for value in START]
    return keras.Sequential([L.Dense(2, kernel_initializer=start[0], bias_initializer=start[1])], name="m")


def fitted(optimizer: Any, steps: int) -> list[np.ndarray]:
    model = network()
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), run_eagerly=True)
    for step in range(steps):
        start = 16 * (step % 4)
        model.train_on_batch(X[start : start + 16], Y[start : start + 16])
    return model.get_weights()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_trains_as_in_fit_and_resumes(tmp_path: Path, name: str) -> None:
    est = estimator(tmp_path, classifier(lambda x: network()(x), OPTIMIZERS[name]))
    est.train(batches(16), steps=3)
    est.train(lambda: batches(16)().skip(3), steps=5)
    assert est.get_variable_value("global_step") == 8
    expected = fitted(OPTIMIZERS[name](), 8)
    found = [est.get_variable_value(f"m/dense/{kind}") for kind in ("kernel", "bias")]
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_frozen_weights_and_their_slots_do_not_move_by_a_bit(tmp_path: Path, name: str) -> None:
    est = estimator(tmp_path, classifier(lambda x: network()(x), OPTIMIZERS[name]))

    def values() -> dict[str, bytes]:
        return {one: est.get_variable_value(one).tobytes() for one in est.get_variable_names()}

    est.train(batches(16), steps=3)
    before = values()
    est.train(batches(16), steps=200, freeze=["m/dense/kernel"])
    after = values()
    assert before.keys() == after.keys()
    moved = {one for one in before if before[one] != after[one]}
    assert "m/dense/bias" in moved
    assert not [one for one in moved if "kernel" in one]
    est.train(batches(16), steps=1)
    resumed = values()
    assert [one for one in after if "kernel" in one and resumed[one] != after[one]]


def test_slots_stand_below_the_variable_they_serve(tmp_path: Path) -> None:
    est = estimator(tmp_path, classifier(lambda x: network()(x), OPTIMIZERS["adam"]))
    est.train(batches(), steps=1)
    assert sorted(est.get_variable_names()) == [
        "global_step",
        *[f"m/dense/bias{slot}" for slot in ("", "/Adam/m", "/Adam/v")],
        *[f"m/dense/kernel{slot}" for slot in ("", "/Adam/m", "/Adam/v")],
    ]


def test_an_optimizer_from_outside_serves_every_run(tmp_path: Path) -> None:
    optimizer = keras.optimizers.Adam(0.05)
    est = estimator(tmp_path, classifier(lambda x: network()(x), lambda: optimizer))
    est.train(batches(16), steps=4)
    est.train(batches(16), steps=4)
    np.testing.assert_allclose(est.get_variable_value("m/dense/kernel"), fitted(optimizer, 8)[0], rtol=1e-5, atol=1e-6)


def test_functional_models_keep_the_names_of_tensorflow_2_15() -> None:
    def functional(x: Any) -> Any:
        inputs = keras.Input((6,))
        hidden = L.BatchNormalization()(L.Dense(4)(inputs))
        return keras.Model(inputs, L.Dense(2)(hidden), name="encoder")(x)

    build = built(functional)
    assert [name for name in build.variables if "kernel" in name] == ["dense/kernel", "dense_1/kernel"]
    assert build.layers == ["encoder/dense", "encoder/batch_normalization", "encoder/dense_1", "encoder"]
    assert len(build.trace.updates) == 2
    build.runs()  # the updates do not depend on the model's placeholder


def test_a_model_around_a_real_tensor_is_called() -> None:
    """`Input(tensor=...)`, the way of TF 1: the layers work on the batch itself."""

    def network(x: Any) -> Any:
        inputs = keras.Input(tensor=x)
        return keras.Model(inputs, L.BatchNormalization()(L.Dense(3)(inputs))).output

    build = built(network)
    assert build.layers == ["dense", "batch_normalization"]
    assert len(build.trace.updates) == 2
    assert build.runs()[0].shape == (64, 3)


def test_a_layer_from_outside_is_refused() -> None:
    layer = L.Dense(2)
    layer(X)
    with pytest.raises(
        lw.errors.ModelFnError, match=r"the Dense layer 'dense.*' of tf_keras, whose variables were made outside"
    ):
        built(lambda x: layer(x))


def test_activity_losses_of_a_described_model_do_not_count() -> None:
    def network(x: Any) -> Any:
        inputs = keras.Input((6,))
        layer = L.Dense(2, activity_regularizer="l2", kernel_regularizer="l2")
        model = keras.Model(inputs, layer(inputs))
        return model(x)

    build = built(network)
    losses = build.graph.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)
    assert len(losses) == 2
    build.runs(fetch=losses)


def test_the_classes_are_put_back() -> None:
    before = L.Layer.__call__
    seen: list[Any] = []

    def network(x: Any) -> Any:
        seen.append(L.Layer.__call__)
        return tf.identity(x)

    built(network)
    assert seen[0] is not before
    assert L.Layer.__call__ is before
