"""Keras 3 on a GPU: the networks of the GPU rows as a Keras user writes them, trained by `fit`."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import keras
import tensorflow as tf

from benchmarks.workers import data
from benchmarks.workers.big_models import Encoder, Tables, gpu_models, gpu_shapes
from benchmarks.workers.protocol import Measure, Plan, Worker, first_step_of, measure_turns, tensorflow_device_mb

_EPOCHS = 4  # that are timed; one before them is not
layers, ops = keras.layers, keras.ops


def register(worker: Worker) -> None:
    for key in ("mlp", "cnn", "wide", "lstm", "bert", "dlrm"):
        worker.row(f"gpu_{key}", "fit", "fit_jit")(partial(_train, f"gpu_{key}"))
    for key in ("mlp", "bert"):
        worker.row(f"gpu_{key}_start", "fit")(partial(_start, f"gpu_{key}"))


def _train(key: str, plan: Plan) -> Measure:
    model, dataset = _model(key, plan.is_quick, jit_compile=plan.variant == "fit_jit"), _batches(key, plan.is_quick)

    def run(steps: int) -> float:
        """The rate of so many steps; `fit` has a time at the end of each epoch, without a callback in every step."""
        each, times = max(1, round(steps / _EPOCHS)), []
        clock = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: times.append(time.perf_counter()))
        model.fit(dataset, steps_per_epoch=each, epochs=1 + _EPOCHS, verbose=0, callbacks=[clock])
        return _EPOCHS * each / (times[-1] - times[0])

    run(_EPOCHS)
    guess = plan.scaled(20, _EPOCHS)
    return measure_turns(run, plan, guess=guess, multiple=_EPOCHS, device_mb=lambda: tensorflow_device_mb(tf))


def _start(key: str, plan: Plan) -> Measure:
    arrays = _arrays(key, plan.is_quick)  # as a user has them before `fit`

    def prepare() -> Any:
        model, dataset = _model(key, plan.is_quick), _batches(key, plan.is_quick, arrays)
        return lambda: model.fit(dataset, steps_per_epoch=1, epochs=1, verbose=0)

    return first_step_of(prepare, lambda: tensorflow_device_mb(tf))


def _arrays(key: str, is_quick: bool) -> tuple[Any, int]:
    """The data and the size of a batch."""
    if key in gpu_models(is_quick):
        big = gpu_models(is_quick)[key]
        return big.arrays(), big.batch
    network = data.gpu_network(key, is_quick)
    return data.network_data(network), network.batch


def _batches(key: str, is_quick: bool, arrays: tuple[Any, int] | None = None) -> Any:
    values, batch = arrays or _arrays(key, is_quick)
    return tf.data.Dataset.from_tensor_slices(values).repeat().shuffle(data.SHUFFLE).batch(batch).prefetch(2)


def _model(key: str, is_quick: bool, **arguments: Any) -> Any:
    encoder, tables, _ = gpu_shapes(is_quick)
    if key == "gpu_dlrm":
        model, optimizer = _tables(tables), keras.optimizers.SGD(1e-2)
        loss: Any = keras.losses.BinaryCrossentropy(from_logits=True)
    else:
        model, optimizer = _encoder(encoder) if key == "gpu_bert" else _network(key, is_quick), keras.optimizers.Adam()
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, **arguments)
    return model


def _network(key: str, is_quick: bool) -> Any:
    network = data.gpu_network(key, is_quick)
    hidden = [layers.Dense(units, activation="relu") for units in network.hidden]
    if key == "gpu_lstm":
        return keras.Sequential(
            [keras.Input([network.steps, network.features]), layers.LSTM(*network.hidden), layers.Dense(data.CLASSES)]
        )
    parts: list[Any] = [keras.Input([network.features])]
    if key == "gpu_cnn":
        parts.append(layers.Reshape((28, 28, 1)))
        for filters in (32, 64):
            parts += [layers.Conv2D(filters, 5, padding="same", activation="relu"), layers.MaxPooling2D(2)]
        parts.append(layers.Flatten())
        hidden.append(layers.Dropout(0.4))
    return keras.Sequential([*parts, *hidden, layers.Dense(data.CLASSES)])


class _Positions(layers.Layer):  # type: ignore[misc]
    """Adds a vector for each position."""

    def build(self, shape: Any) -> None:
        self.table = self.add_weight(shape=shape[1:], initializer=keras.initializers.TruncatedNormal(stddev=0.02))

    def call(self, net: Any) -> Any:
        return net + self.table


def _encoder(shape: Encoder) -> Any:
    tokens = keras.Input([shape.positions], dtype="int32", name="tokens")
    net = _Positions()(layers.Embedding(shape.vocabulary, shape.width)(tokens))
    net = layers.Dropout(0.1)(layers.LayerNormalization()(net))
    for _ in range(shape.layers):
        attended = layers.MultiHeadAttention(shape.heads, shape.width // shape.heads, dropout=0.1)(net, net)
        net = layers.LayerNormalization()(net + layers.Dropout(0.1)(attended))
        wide = layers.Dense(shape.width)(layers.Dense(4 * shape.width, activation="gelu")(net))
        net = layers.LayerNormalization()(net + layers.Dropout(0.1)(wide))
    pooled = layers.Dense(shape.width, activation="tanh")(net[:, 0])
    return keras.Model({"tokens": tokens}, layers.Dense(2)(pooled))


def _tables(shape: Tables) -> Any:
    ids = keras.Input([shape.tables], dtype="int32", name="ids")
    numbers = keras.Input([shape.numbers], name="numbers")
    net = numbers
    for units in (64, shape.width):
        net = layers.Dense(units, activation="relu")(net)
    looked_up = [layers.Embedding(shape.rows, shape.width)(ids[:, number]) for number in range(shape.tables)]
    stacked = ops.stack([net, *looked_up], axis=1)
    pairs = ops.reshape(ops.matmul(stacked, ops.transpose(stacked, [0, 2, 1])), [-1, (shape.tables + 1) ** 2])
    net = ops.concatenate([net, pairs], axis=1)
    for units in (128, 64):
        net = layers.Dense(units, activation="relu")(net)
    return keras.Model({"ids": ids, "numbers": numbers}, layers.Dense(1)(net))
