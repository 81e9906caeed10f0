"""Keras 3 on TensorFlow: `fit`, `predict`, `evaluate`, `predict_on_batch` and the plain call."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import tensorflow as tf

from benchmarks.workers import data, gpu_keras3, protocol
from benchmarks.workers.data import GROWTH_FEATURES, growth_layers
from benchmarks.workers.protocol import Measure, Plan, Worker, measure_calls, measure_growth, measure_steps, peak_memory

worker = Worker(("keras", "tensorflow-cpu", "tensorflow", "numpy"))


def mlp(hidden: tuple[int, ...] = (128,), features: int = data.FEATURES) -> Any:
    dense = [keras.layers.Dense(units, activation="relu") for units in hidden]
    return keras.Sequential([keras.Input([features]), *dense, keras.layers.Dense(data.CLASSES)])


def cnn() -> Any:
    layers: list[Any] = [keras.Input([data.FEATURES]), keras.layers.Reshape((28, 28, 1))]
    for filters in (32, 64):
        layers += [keras.layers.Conv2D(filters, 5, padding="same", activation="relu"), keras.layers.MaxPooling2D(2)]
    layers += [keras.layers.Flatten(), keras.layers.Dense(1024, activation="relu"), keras.layers.Dropout(0.4)]
    return keras.Sequential([*layers, keras.layers.Dense(data.CLASSES)])


def compiled(model: Any, **arguments: Any) -> Any:
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(1e-3), loss, **arguments)
    return model


def predicting(model: Any) -> Any:
    """The model with what the Estimators predict: class and probabilities."""
    pixels = keras.Input(model.input_shape[1:])
    logits = model(pixels)
    return keras.Model(
        pixels, {"classes": keras.ops.argmax(logits, axis=1), "probabilities": keras.ops.softmax(logits)}
    )


def training_data(rows: int, features: int = data.FEATURES, batch: int = data.BATCH) -> Any:
    dataset = tf.data.Dataset.from_tensor_slices(data.digits(rows, features))
    return dataset.repeat().shuffle(data.SHUFFLE).batch(batch).prefetch(2)


def fit_rate(model: Any, dataset: Any, epochs: int, multiple: int, steps: int) -> float:
    steps_an_epoch, times = max(1, round(steps / epochs / multiple)) * multiple, []
    clock = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: times.append(time.perf_counter()))
    model.fit(dataset, steps_per_epoch=steps_an_epoch, epochs=1 + epochs, verbose=0, callbacks=[clock])
    return epochs * steps_an_epoch / (times[-1] - times[0])


gpu_keras3.register(worker)


def train(make: Callable[[], Any], epochs: int, plan: Plan) -> Measure:
    steps_a_call, multiple = (50, 50) if plan.variant == "fit50" else (1, 10)
    model = compiled(make(), steps_per_execution=steps_a_call)
    run = partial(fit_rate, model, training_data(data.TRAIN_ROWS), epochs, multiple)
    return measure_steps(run, plan, guess=multiple, multiple=multiple)


worker.row("mlp", "fit", "fit50")(partial(train, mlp, 4))
worker.row("cnn", "fit", "fit50")(partial(train, cnn, 2))


def call_plainly() -> Callable[[Any], Any]:
    model = predicting(mlp())
    return lambda pixels: {name: value.numpy() for name, value in model(pixels, training=False).items()}


data.register_predictions(worker, {"on_batch": lambda: predicting(mlp()).predict_on_batch, "call": call_plainly})


def predict(rows: int, batch: int, plan: Plan) -> Measure:
    rows = plan.scaled(rows, min(rows, 500))
    call = partial(predicting(mlp()).predict, data.digits(rows)[0], batch_size=batch, verbose=0)
    return measure_calls(call, plan, rows if rows > 1 else 0)


worker.row("predict_batches", "predict")(partial(predict, data.PREDICT_ROWS, data.BATCH))
worker.row("predict_batches_256", "predict")(partial(predict, data.PREDICT_ROWS, 256))
worker.row("predict_loop", "predict")(partial(predict, 1, data.BATCH))
worker.row("predict_loop_vouched", "predict")(partial(predict, 1, data.BATCH))


@worker.row("evaluate", "evaluate")
def evaluate(plan: Plan) -> Measure:
    rows, model = plan.scaled(data.PREDICT_ROWS, 500), compiled(mlp(), metrics=["accuracy"])
    return measure_calls(partial(model.evaluate, *data.digits(rows), batch_size=data.BATCH, verbose=0), plan, rows)


def train_growth(row: str, plan: Plan) -> Measure:
    peak_mb, batch = peak_memory(), plan.size if row == "growth_batch" else data.BATCH
    dataset, started = training_data(max(data.TRAIN_ROWS, 2 * batch), GROWTH_FEATURES, batch), time.perf_counter()
    model = compiled(mlp(growth_layers(row, plan.size), GROWTH_FEATURES))
    model.fit(dataset, steps_per_epoch=1, verbose=0)
    first = time.perf_counter() - started
    steps = max(5, round(fit_rate(model, dataset, 1, 5, 5) * plan.seconds))
    return measure_growth(first, lambda: 1 / fit_rate(model, dataset, 1, 1, steps), peak_mb)


for _row in ("growth_layers", "growth_batch", "growth_params"):
    worker.row(_row)(partial(train_growth, _row))


@worker.row("growth_rows")
def predict_growth(plan: Plan) -> Measure:
    model = predicting(mlp(growth_layers("growth_rows", 0), GROWTH_FEATURES))
    call = partial(model.predict, data.digits(plan.size, GROWTH_FEATURES)[0], batch_size=256, verbose=0)
    peak_mb = peak_memory()
    return measure_growth(protocol.time_of(call), lambda: protocol.seconds_per_call(call, plan.seconds), peak_mb)


if __name__ == "__main__":
    worker.serve()
