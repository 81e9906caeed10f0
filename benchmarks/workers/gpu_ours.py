"""Lightwell on a GPU: the GPU rows. A training waits between its turns, so that what it compiled and chose lasts."""

from __future__ import annotations

import logging
import queue
import re
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import tensorflow as tf

import lightwell as lw
from benchmarks.workers import data
from benchmarks.workers import estimators as shared
from benchmarks.workers.big_models import gpu_models
from benchmarks.workers.estimators import Api
from benchmarks.workers.protocol import Figures, Measure, Plan, Worker, measure_turns, tensorflow_device_mb

_ENDLESS = 10**9  # steps: as many seconds of them are left as a choice needs
_PATIENCE = 45.0  # seconds, for the choice whether to compile
_MOST_CALLS = 12  # until compiled steps have begun
_CHOICES = re.compile(r"^Steps go on|steps are not compiled")
_SETTINGS: dict[str, dict[str, Any]] = {
    "single": {"fuse_steps": False, "jit_compile": False},
    "jit": {"jit_compile": True},
    "": {},
    "watch": {},
    "plain": {},
}


def register(worker: Worker, api: Api) -> None:
    for key in ("mlp", "cnn", "wide", "lstm", "bert", "dlrm"):
        worker.row(f"gpu_{key}", "", "single", "jit")(partial(_train, f"gpu_{key}", api))
    worker.row("gpu_watch", "watch", "plain")(partial(_train, "gpu_watch", api))
    for key in ("mlp", "bert"):
        worker.row(f"gpu_{key}_start")(partial(_start, f"gpu_{key}", api))


class Turns(lw.ScheduledHook):
    """Lets a training run so many steps, then wait for the next request, while others are measured."""

    def __init__(self, train: Callable[[Sequence[Any]], Any]) -> None:
        self._train, self._until = train, 1
        self._requests: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="training", daemon=True)
        self._thread.start()
        self._wait()  # for the first step

    def rate(self, steps: int) -> float:
        """Runs so many steps; returns their rate."""
        started = time.perf_counter()
        self._requests.put(steps)
        return steps / (self._wait() - started)

    def next_look(self, count: int) -> int:
        return max(self._until, count + 1)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_context.count >= self._until:
            self._answers.put(time.perf_counter())
            self._until = run_context.count + self._requests.get()

    def _run(self) -> None:
        try:
            self._train([self])
            raise RuntimeError("The training ended.")
        except BaseException as error:
            self._answers.put(error)

    def _wait(self) -> float:
        answer = self._answers.get()
        if isinstance(answer, BaseException):
            raise answer
        return float(answer)


class _Said(logging.Handler):
    """Remembers what the log says of compiling."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if _CHOICES.search(line) or line.startswith("Compiled"):
            self.lines.append(line)

    @property
    def is_chosen(self) -> bool:
        return any(_CHOICES.search(line) for line in self.lines)


def _train(key: str, api: Api, plan: Plan) -> Measure:
    """Training as it comes, one step a call, compiled, or watched."""
    settings = _SETTINGS[plan.variant]
    if not settings and not tf.config.list_physical_devices("GPU"):
        settings = {"jit_compile": "auto"}  # what a GPU brings by default
    chooses = settings.get("jit_compile", "auto") == "auto"
    said = _Said()
    logger = logging.getLogger("tensorflow")  # which Lightwell writes to
    logger.addHandler(said)
    logger.setLevel(logging.INFO)
    input_fn, model_fn = _training(key, api, plan.is_quick)
    seen: list[Any] = []
    watch = lw.Watch(lw.stats("gradients/weights/*"), every=100, do=seen.append)
    hooks = [watch] if plan.variant == "watch" else []
    estimator = replace(api, settings=settings).Estimator(model_fn, tempfile.mkdtemp())
    turns = Turns(lambda own: estimator.train(input_fn, hooks=[*hooks, *own], steps=_ENDLESS))
    turns.rate(plan.scaled(50, 2))
    for _ in range(_MOST_CALLS if plan.variant == "jit" and not said.lines else 0):  # compiled here, beside the others
        turns.rate(plan.scaled(50, 2))
        if said.lines:
            break

    def settle() -> Figures:
        """Trains until it is chosen whether to compile, and past the first calls of the way that was chosen."""
        steps, started, rate = 0, time.perf_counter(), 0.0
        chunk = plan.scaled(20, 10)
        while True:
            rate = turns.rate(chunk)
            steps += chunk
            waited = time.perf_counter() - started
            if said.is_chosen or not chooses or waited > _PATIENCE:
                break
            chunk = max(1, round(rate * 0.5))  # half a second of steps: calls are as long as they ever are
        taken = time.perf_counter() - started
        rate = turns.rate(max(2, round(rate * 0.3)))
        if hooks and not seen and not plan.is_quick:
            raise RuntimeError("The watch saw nothing.")
        return {"choice": "; ".join(said.lines), "settled_seconds": taken, "trial_seconds": taken - steps / rate}

    guess = plan.scaled(100, 2)
    return measure_turns(turns.rate, plan, guess=guess, settle=settle, device_mb=lambda: tensorflow_device_mb(tf))


def _start(key: str, api: Api, plan: Plan) -> Measure:
    """From the call of `train` to the end of the first step."""
    input_fn, model_fn = _training(key, api, plan.is_quick)

    def measure() -> Figures:
        started = time.perf_counter()
        Turns(lambda own: api.Estimator(model_fn, tempfile.mkdtemp()).train(input_fn, hooks=own, steps=_ENDLESS))
        return {"seconds": time.perf_counter() - started, "steps": 1}

    return measure


def _training(key: str, api: Api, is_quick: bool) -> tuple[Any, Any]:
    """The `input_fn` and the `model_fn` of a row."""
    if key in gpu_models(is_quick):
        big = gpu_models(is_quick)[key]

        def big_model(features: Any, labels: Any, mode: str) -> Any:
            return shared.train_spec(api, mode, big.loss(tf, api.layers.dense, features, labels), big.optimizer(tf))

        return shared.training_input(api, big.arrays(), big.batch), big_model
    network = data.gpu_network("gpu_mlp" if key == "gpu_watch" else key, is_quick)
    values, labels = data.network_data(network)
    if key == "gpu_cnn":
        model = shared.cnn(api)
    elif key == "gpu_lstm":
        model = _lstm(api, *network.hidden)
    else:
        model = shared.mlp(api, network.hidden)
    return shared.training_input(api, ({"x": values}, labels), network.batch), model


def _lstm(api: Api, units: int) -> Any:
    """Keras's layer, which runs on cuDNN, and the classes from its last output."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        logits = api.layers.dense(tf.keras.layers.LSTM(units)(features["x"]), data.CLASSES)
        loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
        return shared.train_spec(api, mode, loss)

    return model_fn
