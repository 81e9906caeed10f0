"""Lightwell: the rows it shares with tf.estimator, and those that only it has. It uses public names alone.

`make bench BEFORE=../other-checkout` runs this module with the sources of that checkout as well.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw
from benchmarks.workers import data, gpu_ours, protocol
from benchmarks.workers import estimators as shared
from benchmarks.workers.data import GROWTH_FEATURES, growth_layers
from benchmarks.workers.device_trace import trace
from benchmarks.workers.estimators import Api
from benchmarks.workers.protocol import Figures, Measure, Plan, Worker, drift, mark, measure_calls

CAPTURED = (32, 22)  # with the ten logits, 64 numbers a row
TAPPED_LAYERS = 64
THIN = 8  # units of a layer, where there are thousands


def stamp(steps: Sequence[int], times: list[float]) -> Any:
    return lw.Watch("global_step", at=list(steps), do=lambda step: mark(times, len(steps)))


API = Api(tf=tf, layers=lw.layers, estimator=lw.estimator, stamp=stamp)
# A model_fn that is vouched for: evaluate and predict skip it while their input builds the same graph.
VOUCHED = replace(API, settings={"pure_model_fn": True})

worker = Worker(("tensorflow-cpu", "tensorflow", "keras", "numpy"), {"lightwell": lw.__version__}, trace)
shared.register(worker, API)
worker.row("predict_loop_vouched", "vouched")(lambda plan: measure_calls(shared.one_row_call(VOUCHED), plan))
worker.row("evaluate", "vouched")(partial(shared.evaluate, VOUCHED))
worker.row("train_and_evaluate", "vouched")(partial(shared.evaluated_training, VOUCHED))
worker.row("train_and_evaluate", "default")(partial(shared.evaluated_training, API))
worker.row("predict_memory")(lambda plan: partial(drift, shared.one_row_call(API), plan.scaled(1_000, 20)))
worker.row("evaluate_memory")(lambda plan: partial(drift, shared.evaluation_call(API, plan)[0], plan.scaled(200, 20)))


def train_jit(train: Callable[..., Measure], warm: dict[str, int], plan: Plan) -> Measure:
    """Training with steps that are compiled, or may be, or are not; "auto" first measures steps without."""
    api = replace(API, settings={"jit_compile": {"jit": True, "auto": "auto", "fused": False}[plan.variant]})
    return train(api, plan, warm=plan.scaled(warm[plan.variant], min(warm[plan.variant], shared.WARM_STEPS)))


_mlp, _cnn = partial(shared.train, model=shared.mlp(API)), partial(shared.train, model=shared.cnn(API), multiple=10)
_warm = {"jit": 2_000, "auto": 12_000, "fused": shared.WARM_STEPS}
worker.row("mlp_jit", "jit", "auto", "fused")(partial(train_jit, _mlp, _warm))
worker.row("cnn_auto", "auto", "fused")(partial(train_jit, _cnn, {"auto": 400, "fused": 20}))
worker.row("ready_dnn", "jit")(partial(train_jit, partial(shared.train, make=shared.ready_dnn), _warm))


gpu_ours.register(worker, API)


@worker.row("mlp_watch", "watch", "plain")
def train_watched(plan: Plan) -> Measure:
    """Training with statistics of four layers and of all gradients every 100 steps, or without."""
    seen: list[Any] = []

    def hooks() -> list[Any]:
        return [lw.Watch(lw.stats("layers/*"), lw.stats("gradients/weights/*"), every=100, do=seen.append)]

    make_hooks = hooks if plan.variant == "watch" else list
    measure = shared.train(API, plan, model=shared.mlp(API, (128, 64, 32)), multiple=100, make_hooks=make_hooks)
    if plan.variant == "watch" and not seen:
        raise RuntimeError("The watch saw nothing.")
    return measure


@worker.row("one_row", "predictor")
@worker.row("gpu_one_row", "predictor")
def one_row(plan: Plan) -> Measure:
    predictor = shared.trained(API, shared.mlp(API)).predictor()
    return measure_calls(partial(predictor, shared.digits(1)[0]), plan, warm=100)


@worker.row("predict_overhead", "predict", "evaluate")
def overhead(plan: Plan) -> Measure:
    """The time of a short verb outside of the user's functions, which are called each time."""
    inside: list[float] = []

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            started = time.perf_counter()
            result = function(*args)
            inside.append(time.perf_counter() - started)
            return result

        return call

    timed_mlp, arrays = timed(shared.mlp(API)), shared.digits(32)
    estimator = shared.trained(API, lambda features, labels, mode: timed_mlp(features, labels, mode))
    call = {
        "evaluate": partial(estimator.evaluate, timed(shared.ordered_input(API, arrays))),
        "predict": shared.predict_call(estimator, timed(shared.ordered_input(API, arrays[0]))),
    }[plan.variant]
    for _ in range(10):
        call()

    def measure() -> Figures:
        outside, whole, ends = [], [], time.perf_counter() + plan.seconds
        while not outside or time.perf_counter() < ends:
            inside.clear()
            started = time.perf_counter()
            call()
            whole.append(time.perf_counter() - started)
            outside.append(whole[-1] - sum(inside))
        return {"seconds": statistics.median(outside), "slowest_call": max(whole) / statistics.median(whole)}

    return measure


@worker.row("memory")
def memory(plan: Plan) -> Measure:
    """Resident memory over cycles of training, evaluation and prediction."""
    estimator, arrays = API.Estimator(shared.mlp(API), tempfile.mkdtemp()), shared.digits()
    training, evaluation = shared.training_input(API, arrays), shared.ordered_input(API, arrays)
    predict = shared.predict_call(estimator, shared.ordered_input(API, arrays[0]), yield_single_examples=True)

    def cycle() -> None:
        estimator.train(training, steps=10)
        estimator.evaluate(evaluation)
        predict()

    return lambda: drift(cycle, plan.scaled(200, 10))


def capture(model_fn: Any, full: int, batch: int, tap: str, plan: Plan) -> Measure:
    rows = plan.scaled(full, 2 * batch)
    estimator = shared.trained(API, model_fn, shared.digits(256))
    input_fn = shared.ordered_input(API, shared.digits(rows)[0], batch)
    folder = os.path.join(tempfile.mkdtemp(), "acts")
    call = partial(estimator.capture, input_fn, [tap], folder, overwrite=True)
    return measure_calls(call if plan.variant == "capture" else shared.predict_call(estimator, input_fn), plan, rows)


worker.row("capture_early", "capture", "full")(partial(capture, shared.cnn(API), 4_096, 128, "layers/max_pooling2d"))
worker.row("capture_all", "capture", "full")(partial(capture, shared.mlp(API, CAPTURED), 100_000, 256, "layers/*"))


@worker.row("capture_memory")
def capture_memory(plan: Plan) -> Measure:
    """The growth of the peak with eight times as many rows; they come from an array, so the graph stays the same."""
    few, pixels = plan.scaled(40_000, 500), data.digits(1_000)[0]
    estimator = shared.trained(API, shared.mlp(API, CAPTURED), shared.digits(256))
    folder = os.path.join(tempfile.mkdtemp(), "acts")

    def peak(rows: int) -> float:
        def input_fn() -> Any:
            counted = tf.data.Dataset.from_tensor_slices(np.zeros(rows, np.int8))
            endless = tf.data.Dataset.from_tensor_slices({"x": pixels}).repeat()
            return tf.data.Dataset.zip((counted, endless)).map(lambda _, features: features).batch(256)

        shutil.rmtree(folder, ignore_errors=True)
        peak_mb = protocol.peak_memory()
        estimator.capture(input_fn, ["layers/*"], folder, shard_bytes="4MB")
        return peak_mb()

    def measure() -> Figures:
        peak(few)
        base, small, large = protocol.status_mb("VmRSS"), peak(few), peak(8 * few)
        curve = [base, base + small, base + large]
        return {"drift": (large - small) / (base + small), "resident_mb": curve, "calls": 2}

    return measure


def train_growth(row: str, plan: Plan) -> Measure:
    """A training step; of a graph with very many ops (`growth_depth`) measured once, as its start takes minutes."""
    peak_mb, is_deep = protocol.peak_memory(), row == "growth_depth"
    batch = plan.size if row == "growth_batch" else data.BATCH
    arrays = shared.digits(max(data.TRAIN_ROWS, 2 * batch), THIN if is_deep else GROWTH_FEATURES)
    model_fn = _thin_layers(plan.size) if is_deep else shared.mlp(API, growth_layers(row, plan.size))
    # What a step with all watches fetches is prepared before the first such step; then one step in ten is one.
    warm, multiple = (30, 20) if row == "growth_watches" else (10, 5)
    if is_deep and not plan.is_quick:
        warm = max(60, 400_000 // plan.size)  # by then it is known which threads run it
    count = plan.size if row == "growth_watches" else 0
    paths = [f"layers/dense_{1 + number % (data.WATCHED_LAYERS - 1)}" for number in range(count)]
    make, input_fn = partial(API.Estimator, model_fn), shared.training_input(API, arrays, batch)

    def run(steps: int) -> Figures:
        watches = [lw.Watch(lw.stats(path), every=10, do=lambda values: None) for path in paths]
        first, begin, end = shared.train_times(API, make, input_fn, [1, warm, warm + steps], watches)
        return {"seconds": (end - begin) / steps, "start_seconds": first, "memory_mb": peak_mb()}

    if is_deep:
        return lambda: run(plan.scaled(50, 5))
    steps = max(1, round(plan.seconds / run(multiple)["seconds"] / multiple)) * multiple
    return lambda: run(steps)


def _thin_layers(count: int) -> Any:
    """Layers with one weight each, trained by gradient descent, which has fewest ops."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        net = features["x"]
        for _ in range(count):
            net = API.layers.dense(net, THIN, tf.tanh, use_bias=False)
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(1e-3)
        return shared.train_spec(API, mode, tf.reduce_mean(net**2), optimizer)

    return model_fn


def predict_growth(plan: Plan, layers: int = 2, rows: int = 0, **arguments: Any) -> Measure:
    model_fn = shared.mlp(API, growth_layers("growth_layers", layers))
    estimator = shared.trained(API, model_fn, shared.digits(features=GROWTH_FEATURES))
    input_fn = shared.ordered_input(API, shared.digits(rows or plan.size, GROWTH_FEATURES)[0], 256)
    peak_mb, call = protocol.peak_memory(), shared.predict_call(estimator, input_fn, **arguments)
    first = protocol.time_of(call)
    return protocol.measure_growth(first, lambda: protocol.seconds_per_call(call, plan.seconds), peak_mb)


def predict_taps(plan: Plan) -> Measure:
    paths = ["layers/dense", *(f"layers/dense_{number}" for number in range(1, TAPPED_LAYERS))]
    return predict_growth(plan, TAPPED_LAYERS, 10_000, taps=paths[: plan.size] or None)


for _key in ("growth_layers", "growth_depth", "growth_batch", "growth_params", "growth_watches"):
    worker.row(_key)(partial(train_growth, _key))
worker.row("growth_rows")(predict_growth)
worker.row("growth_taps")(predict_taps)

if __name__ == "__main__":
    worker.serve()
