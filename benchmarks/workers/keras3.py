"""Keras 3 on TensorFlow: `fit`, `predict`, `evaluate`, `predict_on_batch` and the plain call."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from typing import Any

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import tensorflow as tf

from benchmarks.workers import data
from benchmarks.workers.growth_sizes import BATCH, FEATURES, WIDTH, hidden_for
from benchmarks.workers.protocol import (
    Measure,
    Plan,
    Worker,
    measured_steps,
    seconds_per_call,
    watched_memory,
)

worker = Worker(("keras", "tensorflow-cpu", "tensorflow", "numpy"))
STEPS_A_CALL = 50


def mlp(hidden: tuple[int, ...] = (128,), features: int = data.FEATURES) -> Any:
    """The multi-layer perceptron; gives logits."""
    dense = [keras.layers.Dense(units, activation="relu") for units in hidden]
    return keras.Sequential([keras.Input([features]), *dense, keras.layers.Dense(data.CLASSES)])


def cnn() -> Any:
    """The network of two convolutions."""
    layers: list[Any] = [keras.Input([data.FEATURES]), keras.layers.Reshape((28, 28, 1))]
    for filters in (32, 64):
        layers += [keras.layers.Conv2D(filters, 5, padding="same", activation="relu"), keras.layers.MaxPooling2D(2)]
    layers += [keras.layers.Flatten(), keras.layers.Dense(1024, activation="relu"), keras.layers.Dropout(0.4)]
    return keras.Sequential([*layers, keras.layers.Dense(data.CLASSES)])


def compiled(model: Any, *, steps_a_call: int = 1, metrics: tuple[str, ...] = ()) -> Any:
    """The model ready for `fit` and `evaluate`."""
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = keras.optimizers.Adam(1e-3)
    model.compile(optimizer, loss, metrics=list(metrics), steps_per_execution=steps_a_call)
    return model


def training_data(rows: int, features: int = data.FEATURES, batch: int = data.BATCH) -> Any:
    """The same pipeline as the Estimators'."""
    dataset = tf.data.Dataset.from_tensor_slices(data.digits(rows, features))
    return dataset.repeat().shuffle(data.SHUFFLE).batch(batch).prefetch(2)


class EpochTimes(keras.callbacks.Callback):
    """Notes the time at the end of each epoch; the first epoch is warm-up."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.times.append(time.perf_counter())


def fit_rate(model: Any, dataset: Any, steps: int, *, epochs: int, multiple: int) -> float:
    """Steps per second of `fit`, after a first epoch."""
    steps_an_epoch = max(1, round(steps / epochs / multiple)) * multiple
    clock = EpochTimes()
    model.fit(dataset, steps_per_epoch=steps_an_epoch, epochs=1 + epochs, verbose=0, callbacks=[clock])
    return epochs * steps_an_epoch / (clock.times[-1] - clock.times[0])


def train(make: Callable[[], Any], epochs: int, plan: Plan) -> Measure:
    """Training by `fit`, one step a call or fifty."""
    steps_a_call = STEPS_A_CALL if plan.variant == "fit50" else 1
    model, dataset = compiled(make(), steps_a_call=steps_a_call), training_data(data.TRAIN_ROWS)
    multiple = STEPS_A_CALL if plan.variant == "fit50" else 10
    run = functools.partial(fit_rate, model, dataset, epochs=epochs, multiple=multiple)
    return measured_steps(run, plan, guess=multiple, multiple=multiple)


worker.piece("mlp", "fit", "fit50")(functools.partial(train, mlp, 4))
worker.piece("cnn", "fit", "fit50")(functools.partial(train, cnn, 2))


def predictor(model: Any) -> Any:
    """The model with what the Estimators predict: class and probabilities."""
    pixels = keras.Input(model.input_shape[1:])
    logits = model(pixels)
    outputs = {"classes": keras.ops.argmax(logits, axis=1), "probabilities": keras.ops.softmax(logits)}
    return keras.Model(pixels, outputs)


def predict_batches(batch: int, plan: Plan) -> Measure:
    """All rows by `predict`, or batch by batch."""
    rows = plan.scaled(data.PREDICT_ROWS, 500)
    pixels, model = data.digits(rows)[0], predictor(mlp())

    def call() -> None:
        if plan.variant == "predict":
            model.predict(pixels, batch_size=batch, verbose=0)
            return
        for part in data.slices(rows, batch):
            model.predict_on_batch(pixels[part])

    call()
    return lambda: {"per_second": rows / seconds_per_call(call, plan.seconds)}


worker.piece("predict_batches", "predict", "on_batch")(functools.partial(predict_batches, data.BATCH))
worker.piece("predict_batches_256", "predict", "on_batch")(functools.partial(predict_batches, 256))


@worker.piece("one_row", "on_batch", "call")
def one_row(plan: Plan) -> Measure:
    """One row by `predict_on_batch`, or by calling the model."""
    row, model = data.digits(1)[0], predictor(mlp())

    def call() -> Any:
        if plan.variant == "on_batch":
            return model.predict_on_batch(row)
        return {name: value.numpy() for name, value in model(row, training=False).items()}

    for _ in range(20):
        call()
    return lambda: {"seconds": seconds_per_call(call, plan.seconds)}


@worker.piece("predict_loop_vouched", "predict")
@worker.piece("predict_loop", "predict")
def predict_loop(plan: Plan) -> Measure:
    """One row by `predict`, again and again."""
    row, model = data.digits(1)[0], predictor(mlp())
    model.predict(row, verbose=0)
    return lambda: {"seconds": seconds_per_call(lambda: model.predict(row, verbose=0), plan.seconds)}


@worker.piece("evaluate", "evaluate")
def evaluate(plan: Plan) -> Measure:
    """All rows by `evaluate`."""
    rows = plan.scaled(data.PREDICT_ROWS, 500)
    pixels, labels = data.digits(rows)
    model = compiled(mlp(), metrics=("accuracy",))

    def call() -> None:
        model.evaluate(pixels, labels, batch_size=data.BATCH, verbose=0)

    call()
    return lambda: {"per_second": rows / seconds_per_call(call, plan.seconds)}


def growth_of_training(axis: str, plan: Plan) -> Measure:
    """Time and memory of `fit` along one axis."""
    memory_mb = watched_memory()
    batch = plan.size if axis == "batch" else BATCH
    dataset = training_data(max(data.TRAIN_ROWS, 2 * batch), FEATURES, batch)
    started = time.perf_counter()
    model = compiled(mlp(hidden_for(axis, plan.size), FEATURES))
    model.fit(dataset, steps_per_epoch=1, verbose=0)
    first = time.perf_counter() - started
    rate = fit_rate(model, dataset, 5, epochs=1, multiple=5)

    def measure() -> dict[str, Any]:
        steps = max(5, round(rate * plan.seconds))
        seconds = 1 / fit_rate(model, dataset, steps, epochs=1, multiple=1)
        return {"seconds": seconds, "start_seconds": first, "memory_mb": memory_mb()}

    return measure


for _axis in ("layers", "batch", "params"):
    worker.piece(f"growth_{_axis}")(functools.partial(growth_of_training, _axis))


@worker.piece("growth_rows")
def growth_of_prediction(plan: Plan) -> Measure:
    """Time and memory of `predict` over more and more rows."""
    pixels, model = data.digits(plan.size, FEATURES)[0], predictor(mlp((WIDTH,), FEATURES))
    memory_mb, started = watched_memory(), time.perf_counter()
    model.predict(pixels, batch_size=256, verbose=0)
    first = time.perf_counter() - started

    def measure() -> dict[str, Any]:
        seconds = seconds_per_call(lambda: model.predict(pixels, batch_size=256, verbose=0), plan.seconds)
        return {"seconds": seconds, "start_seconds": first, "memory_mb": memory_mb()}

    return measure


if __name__ == "__main__":
    worker.serve()
