"""Lightwell: the pieces it shares with tf.estimator, and those that only it has."""

from __future__ import annotations

import dataclasses
import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

import lightwell as lw
from benchmarks.workers import data
from benchmarks.workers import estimator_models as models
from benchmarks.workers import estimator_pieces as pieces
from benchmarks.workers.big_pieces import register_big
from benchmarks.workers.estimator_models import Api
from benchmarks.workers.evaluated_training import evaluated_training
from benchmarks.workers.ours_captures import register_captures
from benchmarks.workers.ours_growth import register_growth
from benchmarks.workers.ours_growth_data import register_growth_of_data
from benchmarks.workers.protocol import Measure, Plan, Worker, drift, measured_steps, seconds_per_call

HIDDEN_4 = (128, 64, 32)  # with the logits, four layers
_IMPORT = """
import sys, time
started = time.perf_counter()
import tensorflow
between = time.perf_counter()
import lightwell
lightwell.Estimator, lightwell.EstimatorSpec, lightwell.RunConfig, lightwell.Watch, lightwell.layers.dense
ended = time.perf_counter()
print("took", between - started, ended - between)
"""


def stamp(steps: Sequence[int], times: list[float]) -> Any:
    """Notes the time after certain steps."""
    return lw.Watch("global_step", at=list(steps), do=lambda step: times.append(time.perf_counter()))


API = Api(tf=tf, layers=lw.layers, estimator=lw.estimator, stamp=stamp)
# A model_fn that is vouched for: evaluate and predict skip it while their input builds the same graph.
VOUCHED = dataclasses.replace(API, settings={"pure_model_fn": True})


def about() -> dict[str, Any]:
    """Which Lightwell it is."""
    return {"lightwell": lw.__version__}


worker = Worker(("tensorflow-cpu", "tensorflow", "keras", "numpy"), about)
pieces.register(worker, API)
register_growth(worker, API)
register_growth_of_data(worker, API)
register_captures(worker, API)
register_big(worker, API)
worker.piece("predict_loop_vouched", "vouched")(functools.partial(pieces.predict_loop, VOUCHED))
worker.piece("evaluate", "vouched")(functools.partial(pieces.evaluate, VOUCHED))


@worker.piece("mlp_jit", "jit", "auto", "fused")
def train_compiled(plan: Plan) -> Measure:
    """Training with steps that are compiled, or that may be, or not."""
    jit_compile = {"jit": True, "auto": "auto", "fused": False}[plan.variant]
    api = dataclasses.replace(API, settings={"jit_compile": jit_compile})
    input_fn = models.digits_input(api, data.TRAIN_ROWS)
    # "auto" first finds out how fast steps are without; compiling takes a second.
    steps = {"auto": 12_000, "jit": 2_000}.get(plan.variant, pieces.WARM_STEPS)
    warm = plan.scaled(steps, pieces.WARM_STEPS)
    return measured_steps(
        lambda steps: pieces.train_rate(api, models.mlp(api), input_fn, steps, warm=warm), plan, guess=100
    )


@worker.piece("ready_dnn", "jit")
def train_ready_compiled(plan: Plan) -> Measure:
    """A ready-made model with compiled steps."""
    api = dataclasses.replace(API, settings={"jit_compile": True})
    return pieces.train_ready_dnn(api, plan, plan.scaled(2_000, pieces.WARM_STEPS))


@worker.piece("mlp_watch", "watch", "plain")
def train_watched(plan: Plan) -> Measure:
    """Training with statistics of four layers and of all gradients every 100 steps, or without."""
    input_fn = models.digits_input(API, data.TRAIN_ROWS)
    seen: list[Any] = []

    def hooks() -> list[Any]:
        if plan.variant == "plain":
            return []
        return [lw.Watch(lw.stats("layers/*"), lw.stats("gradients/weights/*"), every=100, do=seen.append)]

    def run(steps: int) -> float:
        rate = pieces.train_rate(API, models.mlp(API, HIDDEN_4), input_fn, steps, make_hooks=hooks)
        if plan.variant == "watch" and not seen:
            raise RuntimeError("The watch saw nothing.")
        seen.clear()
        return rate

    return measured_steps(run, plan, guess=200, multiple=100)


@worker.piece("train_and_evaluate", "vouched", "default")
def train_and_evaluate(plan: Plan) -> Measure:
    """Training with many evaluations, which keep their program where the user vouches for it."""
    return evaluated_training(API, plan, pure_model_fn=plan.variant == "vouched")


@worker.piece("one_row", "predictor")
def one_row(plan: Plan) -> Measure:
    """One row through a warm predictor."""
    predictor = pieces.trained(API, models.mlp(API), models.digits_input(API, data.TRAIN_ROWS)).predictor()
    features = {"x": data.digits(1)[0]}
    for _ in range(100):
        predictor(features)
    return lambda: {"seconds": seconds_per_call(lambda: predictor(features), plan.seconds)}


@worker.piece("predict_memory")
def predict_memory(plan: Plan) -> Measure:
    """Resident memory over `predict()` of one row, again and again."""
    call = pieces.one_row_call(API)
    return lambda: drift(call, plan.scaled(1_000, 20))


@worker.piece("evaluate_memory")
def evaluate_memory(plan: Plan) -> Measure:
    """Resident memory over `evaluate()`, again and again."""
    call, _ = pieces.evaluation_call(API, plan)
    return lambda: drift(call, plan.scaled(200, 20))


@worker.piece("memory")
def memory(plan: Plan) -> Measure:
    """Resident memory over cycles of training, evaluation and prediction."""
    estimator = lw.Estimator(models.mlp(API), tempfile.mkdtemp())
    pixels, labels = data.digits(data.TRAIN_ROWS)
    training = models.training_input(API, ({"x": pixels}, labels))
    evaluation = models.ordered_input(API, ({"x": pixels}, labels))
    prediction = models.ordered_input(API, {"x": pixels})

    def cycle() -> None:
        estimator.train(training, steps=10)
        estimator.evaluate(evaluation)
        for _ in estimator.predict(prediction):
            pass

    return lambda: drift(cycle, plan.scaled(200, 10))


@worker.piece("taps", "tap", "full")
def taps_only(plan: Plan) -> Measure:
    """The first convolution alone, or the whole prediction."""
    rows = plan.scaled(2_048, 64)
    estimator = pieces.trained(API, models.cnn(API), models.digits_input(API, 256))
    input_fn = models.ordered_input(API, {"x": data.digits(rows)[0]}, 128)
    wanted: dict[str, Any] = {"predict_keys": [], "taps": ["layers/conv2d"]} if plan.variant == "tap" else {}

    def call() -> None:
        for _ in estimator.predict(input_fn, yield_single_examples=False, **wanted):
            pass

    call()
    return lambda: {"per_second": rows / seconds_per_call(call, plan.seconds)}


@worker.piece("import", "lightwell", "tensorflow")
def import_time(plan: Plan) -> Measure:
    """Importing TensorFlow in a new process, or Lightwell's common names after it."""

    # As in an installation: Python keeps what it compiled, whatever the settings of the shell the bench runs in.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def measure() -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-c", _IMPORT], capture_output=True, text=True, check=True, env=environment
        )
        of_tensorflow, of_lightwell = map(float, done.stdout.split("took")[1].split())
        return {"seconds": of_lightwell if plan.variant == "lightwell" else of_tensorflow}

    measure()  # what is compiled once is not part of it
    return measure


if __name__ == "__main__":
    worker.serve()
