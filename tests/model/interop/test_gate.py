"""Keras layers, losses and gradients can be read and changed at the gate; see `tests/contracts/test_gate.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.gate import Runs, check_gate, program_of
from tests.model.interop.builds import LEGACY, X, batches, classifier, estimator, keras, v1

import lightwell as lw
from lightwell.model.layers.gate import Passing

L = keras.layers
ROWS = X[:8]
STEPS = np.random.RandomState(1).rand(4, 5, 3).astype(np.float32)
WEIGHTS = ("first/kernel", "first/bias", "second/kernel", "second/bias", "table")
WORDS = np.array([[1, 2, 0, 0], [3, 1, 2, 0], [4, 4, 4, 4]])


def nested() -> Any:
    block = keras.Sequential([L.Dense(4), L.BatchNormalization(), L.Dense(3, activation="tanh")], name="block")
    inputs = keras.Input((6,))
    model = keras.Model(inputs, L.Dense(2)(block(inputs)), name="encoder")
    return model(tf.constant(ROWS))


def attention() -> Any:
    layer = L.MultiHeadAttention(2, 3)
    return layer(tf.constant(STEPS), tf.constant(STEPS[:, ::-1]), return_attention_scores=True)


NETWORKS: dict[str, Callable[[], Any]] = {
    "dense": lambda: L.Dense(3)(tf.constant(ROWS)),
    "conv2d": lambda: L.Conv2D(2, 2)(tf.reshape(tf.constant(ROWS), [8, 2, 3, 1])),
    "a layer called twice": lambda: (lambda layer: layer(layer(tf.constant(ROWS))))(L.Dense(6)),
    "nested models": nested,
    "batch normalization": lambda: L.BatchNormalization()(tf.constant(ROWS), training=True),
    "layer normalization": lambda: L.LayerNormalization()(tf.constant(ROWS)),
    "embedding with a mask": lambda: L.LSTM(2)(L.Embedding(5, 3, mask_zero=True)(tf.constant(WORDS))),
    "lstm": lambda: L.LSTM(2, return_sequences=True, return_state=True)(tf.constant(STEPS)),
    "gru": lambda: L.GRU(2)(tf.constant(STEPS)),
    "bidirectional": lambda: L.Bidirectional(L.LSTM(2))(tf.constant(STEPS)),
    "stacked cells": lambda: L.RNN([L.LSTMCell(3), L.GRUCell(2)])(tf.constant(STEPS)),
    "unrolled": lambda: L.SimpleRNN(2, unroll=True, return_sequences=True, return_state=True)(tf.constant(STEPS)),
    "attention": attention,
    "in a loop": lambda: tf.map_fn(L.Dense(2), tf.constant(STEPS)),
    "in a branch": lambda: tf.cond(
        tf.constant(ROWS)[0, 0] < 100.0, lambda: L.Dense(2)(tf.constant(ROWS)), lambda: tf.zeros([8, 2])
    ),
    "in a function": lambda: tf.function(L.Dense(2), autograph=False)(tf.constant(ROWS)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_layers(name: str) -> None:
    assert check_gate(NETWORKS[name])


def test_a_mask_goes_on_with_a_changed_value() -> None:
    """An LSTM stops at the padding also when what it reads was changed on the way."""

    def network() -> Any:
        embedded = L.Embedding(5, 3, mask_zero=True)(tf.constant(WORDS))
        return L.LSTM(2, return_sequences=True, use_cudnn=False)(embedded)  # cuDNN gives zeros there

    def halved(passing: Passing) -> Any:
        return passing.value / 2.0 if passing.path == "layers/embedding" else passing.value

    (whole,) = Runs(program_of(network, halved))()
    np.testing.assert_array_equal(whole[0, 1], whole[0, 3])
    assert not np.array_equal(whole[0, 0], whole[0, 1])


class OwnOptimizer(v1.train.Optimizer):
    """As BERT's: it applies gradients by itself, and never asks the class it is derived from."""

    def __init__(self) -> None:
        super().__init__(use_locking=False, name="own")

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Any = None) -> Any:
        steps = [v1.assign_sub(variable, 0.1 * tf.convert_to_tensor(gradient)) for gradient, variable in grads_and_vars]
        return tf.group(*steps, global_step.assign_add(1))


class Wrapped(v1.train.Optimizer):
    """An optimizer around another one, which sees other gradients than it is given itself."""

    def __init__(self) -> None:
        super().__init__(use_locking=False, name="wrapped")
        self._inner = v1.train.GradientDescentOptimizer(0.1)

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        return [
            (tf.convert_to_tensor(g) / 2.0, v) for g, v in self._inner.compute_gradients(2.0 * loss, *args, **kwargs)
        ]

    def apply_gradients(self, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        return self._inner.apply_gradients([(tf.identity(g), v) for g, v in grads_and_vars], *args, **kwargs)


def v1_step(optimizer: Any) -> Callable[[Any], Any]:
    return lambda loss: optimizer().minimize(loss, v1.train.get_global_step())


def by_hand(loss: Any) -> Any:
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(loss)
    return optimizer.apply_gradients(
        grads_and_vars=[(tf.clip_by_norm(g, 5.0), v) for g, v in pairs], global_step=v1.train.get_global_step()
    )


def get_updates(loss: Any) -> Any:
    optimizer = keras.optimizers.legacy.SGD(0.1) if LEGACY else keras.optimizers.SGD(0.1)
    optimizer.iterations = v1.train.get_or_create_global_step()
    return optimizer.get_updates(loss, v1.trainable_variables())[0]


FAMILIES: dict[str, Callable[[Any], Any]] = {
    "v1 sgd": v1_step(lambda: v1.train.GradientDescentOptimizer(0.1)),
    "v1 adam": v1_step(lambda: v1.train.AdamOptimizer(0.1)),
    "v1 by hand": by_hand,
    "v1, the program's own": v1_step(OwnOptimizer),
    "v1, one around another": v1_step(Wrapped),
    "v1 by minimize": lambda loss: lw.minimize(v1.train.MomentumOptimizer(0.1, 0.9), loss),
    "keras sgd": lambda loss: lw.minimize(keras.optimizers.SGD(0.1), loss),
    "keras adam": lambda loss: lw.minimize(keras.optimizers.Adam(0.1), loss),
    "keras get_updates": get_updates,
}
if not LEGACY:
    FAMILIES["keras minimize"] = lambda loss: keras.optimizers.SGD(0.1).minimize(loss)
else:
    FAMILIES["legacy adam"] = lambda loss: lw.minimize(keras.optimizers.legacy.Adam(0.1), loss)


def moved(model_dir: Path, family: str, *edits: Any) -> dict[str, float]:
    """Variable -> how far a step of training brought it from where all start."""

    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        start = {"kernel_initializer": "ones", "bias_initializer": "ones"}
        hidden = L.Dense(3, name="first", **start)(features["x"])
        table = v1.get_variable("table", [2, 3], initializer=v1.ones_initializer())
        rows = tf.nn.embedding_lookup(table, labels)
        loss = tf.reduce_mean(tf.square(L.Dense(3, name="second", **start)(hidden) + rows))
        return lw.EstimatorSpec(mode, {"hidden": hidden}, loss, FAMILIES[family](loss))

    est = estimator(model_dir, model_fn)
    est.train(batches(), steps=1, edits=edits)
    return {name: float(np.abs(est.get_variable_value(name) - 1.0).max()) for name in WEIGHTS}


@pytest.mark.parametrize("family", FAMILIES)
def test_gradients(tmp_path: Path, family: str) -> None:
    seen: dict[str, int] = {}

    def chosen(entry: Any) -> bool:
        if entry.section == "gradients":
            seen[entry.path] = seen.get(entry.path, 0) + 1
        return entry.path in ("gradients/weights/first/kernel", "gradients/weights/table")

    assert min(moved(tmp_path / "plain", family).values()) > 0.0
    far = moved(tmp_path / "edited", family, lw.apply(chosen, lambda value: tf.convert_to_tensor(value) * 0.0))
    assert {name for name, distance in far.items() if distance == 0.0} == {"first/kernel", "table"}
    assert seen == {f"gradients/weights/{name}": 1 for name in WEIGHTS}, "each gradient passes once"


@pytest.mark.parametrize("family", FAMILIES)
def test_the_loss_that_gradients_are_taken_of(tmp_path: Path, family: str) -> None:
    assert max(moved(tmp_path, family, lw.scale("loss", 0.0)).values()) == 0.0


def test_a_loss_is_changed_once_for_its_optimizer_and_for_who_reads_it(tmp_path: Path) -> None:
    losses: list[Any] = []

    def train(name: str, *edits: Any) -> None:
        est = estimator(tmp_path / name, classifier(lambda x: L.Dense(2)(x)))
        watch = lw.Watch("loss", every=1, do=lambda step: losses.append(step["loss"]))
        est.train(batches(), steps=1, hooks=[watch], edits=edits)

    train("plain")
    train("edited", lw.scale("loss", 3.0))
    np.testing.assert_allclose(losses[1], 3.0 * losses[0], rtol=1e-6)
