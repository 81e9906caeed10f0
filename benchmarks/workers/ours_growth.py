"""How Lightwell's time and memory grow with the size of the model, the data and the taps."""

from __future__ import annotations

import functools
import tempfile
import time
from collections.abc import Callable
from typing import Any

import lightwell as lw
from benchmarks.workers import data
from benchmarks.workers import estimator_models as models
from benchmarks.workers.estimator_models import Api, ModelFn
from benchmarks.workers.estimator_pieces import trained
from benchmarks.workers.growth_sizes import BATCH, FEATURES, TAPPED_LAYERS, THIN, WATCHED_LAYERS, WIDTH, hidden_for
from benchmarks.workers.protocol import Measure, Plan, Worker, seconds_per_call, watched_memory


def register_growth(worker: Worker, api: Api) -> None:
    """Adds a piece per axis."""
    for axis in ("layers", "batch", "params", "watches"):
        worker.piece(f"growth_{axis}")(functools.partial(_training, api, axis))
    worker.piece("growth_depth")(functools.partial(_depth, api, is_shared=False))
    worker.piece("growth_calls")(functools.partial(_depth, api, is_shared=True))
    worker.piece("growth_describe")(functools.partial(_describe, api))
    worker.piece("growth_rows")(functools.partial(_rows, api))
    worker.piece("growth_taps")(functools.partial(_taps, api))


def _training(api: Api, axis: str, plan: Plan) -> Measure:
    memory_mb = watched_memory()
    batch = plan.size if axis == "batch" else BATCH
    model_fn = models.mlp(api, hidden_for(axis, plan.size))
    input_fn = models.digits_input(api, max(data.TRAIN_ROWS, 2 * batch), FEATURES, batch)
    watches = plan.size if axis == "watches" else 0
    # What a step with all watches fetches is prepared before the first such step; then one step in ten is one.
    warm, multiple = (30, 20) if axis == "watches" else (10, 5)

    def run(steps: int) -> tuple[float, float]:
        """The seconds to the first step, and of a step after the first few."""
        times: list[float] = []
        with tempfile.TemporaryDirectory() as model_dir:
            started = time.perf_counter()
            hooks = [api.stamp([1, warm, warm + steps], times), *(_watch(number) for number in range(watches))]
            api.Estimator(model_fn, model_dir).train(input_fn, hooks=hooks, steps=warm + steps)
        return times[0] - started, (times[2] - times[1]) / steps

    steps = max(1, round(plan.seconds / run(multiple)[1] / multiple)) * multiple

    def measure() -> dict[str, Any]:
        start, step = run(steps)
        return {"seconds": step, "start_seconds": start, "memory_mb": memory_mb()}

    return measure


def _depth(api: Api, plan: Plan, is_shared: bool) -> Measure:
    """Training of a graph with very many ops: once, as its start takes minutes."""
    input_fn = models.digits_input(api, data.TRAIN_ROWS, THIN, BATCH)
    steps = plan.scaled(50, 5)
    warm = plan.scaled(max(60, 400_000 // max(plan.size, 1)), 10)  # by then it is found out which threads run it

    def measure() -> dict[str, Any]:
        times: list[float] = []
        memory_mb, started = watched_memory(), time.perf_counter()
        with tempfile.TemporaryDirectory() as model_dir:
            hooks = [api.stamp([1, warm, warm + steps], times)]
            model_fn = _thin_layers(api, plan.size, is_shared=is_shared)
            api.Estimator(model_fn, model_dir).train(input_fn, hooks=hooks, steps=warm + steps)
        step = (times[2] - times[1]) / steps
        return {"seconds": step, "start_seconds": times[0] - started, "memory_mb": memory_mb()}

    return measure


def _describe(api: Api, plan: Plan) -> Measure:
    """The description of such a graph, as text. The model is built for it, as for a training."""
    input_fn = models.digits_input(api, data.TRAIN_ROWS, THIN, BATCH)

    def measure() -> dict[str, Any]:
        memory_mb, started, built = watched_memory(), time.perf_counter(), []
        with tempfile.TemporaryDirectory() as model_dir:
            model_fn = _thin_layers(api, plan.size, done=lambda: built.append(time.perf_counter()))
            str(api.Estimator(model_fn, model_dir).describe(input_fn))
        ended = time.perf_counter()
        return {"seconds": ended - built[0], "start_seconds": built[0] - started, "memory_mb": memory_mb()}

    return measure


def _thin_layers(
    api: Api, count: int, *, is_shared: bool = False, done: Callable[[], object] = lambda: None
) -> ModelFn:
    """Layers with one weight each, or one for all of them; trained by gradient descent, which has fewest ops."""
    tf1 = api.tf.compat.v1
    named = {"name": "one", "reuse": tf1.AUTO_REUSE} if is_shared else {}

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        net = features["x"]
        for _ in range(count):
            net = api.layers.dense(net, THIN, api.tf.tanh, use_bias=False, **named)
        loss = api.tf.reduce_mean(net**2)
        train_op = tf1.train.GradientDescentOptimizer(1e-3).minimize(loss, global_step=tf1.train.get_global_step())
        done()
        return api.EstimatorSpec(mode=mode, loss=loss, train_op=train_op)

    return model_fn


def _watch(number: int) -> Any:
    """One of many watches: statistics of one of the layers."""
    path = f"layers/dense_{1 + number % (WATCHED_LAYERS - 1)}"
    return lw.Watch(lw.stats(path), every=10, do=lambda found: None)


def _rows(api: Api, plan: Plan) -> Measure:
    estimator = trained(api, models.mlp(api, (WIDTH,)), models.digits_input(api, data.TRAIN_ROWS, FEATURES))
    input_fn = models.ordered_input(api, {"x": data.digits(plan.size, FEATURES)[0]}, 256)
    return _prediction(estimator, input_fn, plan)


def _taps(api: Api, plan: Plan) -> Measure:
    model_fn = models.mlp(api, hidden_for("layers", TAPPED_LAYERS))
    estimator = trained(api, model_fn, models.digits_input(api, data.TRAIN_ROWS, FEATURES))
    input_fn = models.ordered_input(api, {"x": data.digits(10_000, FEATURES)[0]}, 256)
    names = ["layers/dense", *(f"layers/dense_{number}" for number in range(1, TAPPED_LAYERS))]
    return _prediction(estimator, input_fn, plan, taps=names[: plan.size] or None)


def _prediction(estimator: Any, input_fn: Any, plan: Plan, **wanted: Any) -> Measure:
    """Seconds for all of the data."""
    memory_mb = watched_memory()

    def call() -> None:
        for _ in estimator.predict(input_fn, yield_single_examples=False, **wanted):
            pass

    started = time.perf_counter()
    call()
    first = time.perf_counter() - started

    def measure() -> dict[str, Any]:
        seconds = seconds_per_call(call, plan.seconds)
        return {"seconds": seconds, "start_seconds": first, "memory_mb": memory_mb()}

    return measure
