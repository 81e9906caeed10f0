"""Keras is changed only while model_fn runs, only for it, and put back whatever happens."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.interop.builds import X, batches, built, classifier, estimator, keras

import lightwell as lw
from lightwell.model.interop.keras_scope import keras_in_model_fn

L = keras.layers


def surface() -> dict[str, Any]:
    """Everything that is replaced, as it is now."""
    owners = {
        *[keras.layers.Layer, keras.optimizers.Optimizer, keras.metrics.Metric, keras.random.SeedGenerator],
        *[
            *keras.Variable.__mro__[:2],
            tf.Tensor,
            tf.compat.v1.train.Optimizer,
            *keras.initializers.RandomNormal.__mro__,
        ],
    }
    # Python makes `__annotations__` when somebody first asks for them.
    return {
        f"{owner.__qualname__}.{name}": value
        for owner in owners
        for name, value in vars(owner).items()
        if name != "__annotations__"
    }


@pytest.fixture
def unchanged() -> Iterator[None]:
    before = surface()
    yield
    after = surface()
    assert {name for name in before.keys() | after.keys() if before.get(name) is not after.get(name)} == set()


@pytest.mark.usefixtures("unchanged")
def test_all_is_put_back(tmp_path: Path) -> None:
    inside: dict[str, Any] = {}

    def network(x: Any) -> Any:
        inside.update(surface())
        return L.Dense(2)(x)

    before = surface()
    estimator(tmp_path, classifier(network)).train(batches(), steps=1)
    assert {name for name in inside if before.get(name) is not inside[name]} >= {"Layer.__call__", "SeedGenerator.next"}


@pytest.mark.usefixtures("unchanged")
def test_all_is_put_back_after_a_mistake(tmp_path: Path) -> None:
    def network(x: Any) -> Any:
        raise ZeroDivisionError("a mistake in model_fn")

    with pytest.raises(ZeroDivisionError, match="a mistake in model_fn"):
        estimator(tmp_path, classifier(network)).train(batches(), steps=1)
    assert L.Dense(2)(X).shape == (64, 2)


def test_the_programs_own_counters_and_generator_go_on() -> None:
    first = L.Dense(1).name
    keras.random.normal((2,))
    built(lambda x: L.Dense(1)(x) + keras.random.normal((64, 1)))
    number = int(first.rpartition("_")[2]) if first != "dense" else 0
    assert L.Dense(1).name == f"dense_{number + 1}"
    assert keras.random.normal((2,)).shape == (2,)


def test_other_threads_see_keras_as_it_is() -> None:
    started, done, found = threading.Event(), threading.Event(), []

    def elsewhere() -> None:
        started.wait(120)
        layer = L.Dense(2)
        found.append(np.asarray(layer(X)) @ np.ones(2))
        found.append(layer.kernel.numpy())
        done.set()

    other = threading.Thread(target=elsewhere)
    other.start()

    def network(x: Any) -> Any:
        started.set()
        assert done.wait(120)
        return L.Dense(2)(x)

    build = built(network)
    other.join()
    assert [value.shape for value in found] == [(64,), (6, 2)]
    assert build.variables == ["dense/kernel", "dense/bias"]


def test_two_models_may_be_built_at_the_same_time() -> None:
    meet = threading.Barrier(2)

    def network(x: Any) -> Any:
        meet.wait(120)
        x = L.Dense(3)(x)
        meet.wait(120)
        return L.Dense(2)(x)

    names: list[list[str]] = []
    threads = [threading.Thread(target=lambda: names.append(built(network).variables)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names == [["dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"]] * 2


def test_without_keras_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "keras")
    before = surface()
    with tf.Graph().as_default(), keras_in_model_fn(lw.ModeKeys.TRAIN) as trace:
        during = surface()
        tf.compat.v1.get_variable("w", [])
    assert all(before[name] is during[name] for name in before)
    assert trace.updates == []
    assert "keras" not in sys.modules


def test_tf_keras_first_imported_by_model_fn_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        pytest.raises(
            lw.errors.ModelFnError, match="model_fn was the first to import tf_keras, so its layers could not"
        ),
        tf.Graph().as_default(),
        keras_in_model_fn(lw.ModeKeys.TRAIN),
    ):
        monkeypatch.setitem(sys.modules, "tf_keras", keras)
