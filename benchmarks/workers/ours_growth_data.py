"""How the verbs grow with the rows they go over, and what is done with checkpoints with the weights in them."""

from __future__ import annotations

import functools
import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from benchmarks.workers import data
from benchmarks.workers import estimator_models as models
from benchmarks.workers.estimator_models import Api
from benchmarks.workers.estimator_pieces import trained
from benchmarks.workers.growth_sizes import FEATURES, WIDTH, hidden_for
from benchmarks.workers.protocol import Measure, Plan, Worker, watched_memory

_BATCH = 256
_LONG = 15.0  # seconds


def register_growth_of_data(worker: Worker, api: Api) -> None:
    """Adds both axes."""
    worker.piece("growth_verbs", "train", "evaluate", "capture")(functools.partial(_verb, api))
    worker.piece("growth_checkpoint", "save", "restore", "inspect", "compare", "edit")(functools.partial(_stored, api))


def _verb(api: Api, plan: Plan) -> Measure:
    """All rows, once: trained on, evaluated, or one layer of them captured."""
    pixels, labels = data.digits(plan.size, FEATURES)
    estimator = trained(api, models.mlp(api, (WIDTH,)), models.digits_input(api, data.TRAIN_ROWS, FEATURES))
    if plan.variant == "train":
        shuffled = models.training_input(api, ({"x": pixels}, labels), _BATCH)
        call = functools.partial(estimator.train, shuffled, steps=max(1, plan.size // _BATCH))
    elif plan.variant == "evaluate":
        call = functools.partial(estimator.evaluate, models.ordered_input(api, ({"x": pixels}, labels), _BATCH))
    else:
        folder = os.path.join(tempfile.mkdtemp(), "acts")
        ordered = models.ordered_input(api, {"x": pixels}, _BATCH)
        call = functools.partial(estimator.capture, ordered, ["layers/dense_1"], folder, overwrite=True)
    return _measured(lambda: _timed(call))


def _stored(api: Api, plan: Plan) -> Measure:
    """What is done with the checkpoints of a model: written, read, looked at, compared, changed."""
    folder, saves = tempfile.mkdtemp(), _Saves()
    pixels, labels = data.digits(64, FEATURES)
    training = models.training_input(api, ({"x": pixels}, labels))
    ordered = models.ordered_input(api, {"x": pixels})
    estimator = api.Estimator(_plain_mlp(api, hidden_for("params", plan.size)), folder)

    def train() -> float:
        saves.seconds.clear()
        estimator.train(training, steps=1, saving_listeners=[saves])
        return saves.seconds[-1]

    def restore() -> None:
        with api.Estimator(_plain_mlp(api, hidden_for("params", plan.size)), folder).predictor(ordered) as predictor:
            predictor({"x": pixels[:1]})

    def edit() -> None:
        with estimator.edit() as weights:
            weights["dense_1/kernel"][0] = 0

    def inspect() -> None:
        from lightwell.cli.main import main

        main(["inspect", folder])

    if plan.variant == "save":
        return _measured(train)
    train()
    calls = {
        "restore": restore,
        "inspect": inspect,
        "compare": lambda: str(estimator.compare(0, 1, ordered)),
        "edit": edit,
    }
    return _measured(lambda: _timed(calls[plan.variant]))


def _measured(timed: Callable[[], float]) -> Measure:
    """What happens the first time, and then again; what takes long is done once."""
    memory_mb = watched_memory()
    first = timed()

    def measure() -> dict[str, Any]:
        again = timed() if first < _LONG else first
        return {"seconds": again, "start_seconds": first, "memory_mb": memory_mb()}

    return measure


def _timed(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _plain_mlp(api: Api, hidden: tuple[int, ...]) -> Any:
    """A perceptron without state of an optimizer: its checkpoint has its weights and no more."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        net = features["x"]
        for units in hidden:
            net = api.layers.dense(net, units, activation=tf.nn.relu)
        logits = api.layers.dense(net, data.CLASSES)
        if mode == "infer":
            return api.EstimatorSpec(mode=mode, predictions={"classes": tf.argmax(logits, axis=1)})
        loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
        step = tf.compat.v1.train.get_global_step()
        descent = tf.compat.v1.train.GradientDescentOptimizer(1e-3)
        return api.EstimatorSpec(mode=mode, loss=loss, train_op=descent.minimize(loss, global_step=step))

    return model_fn


class _Saves(tf.compat.v1.train.CheckpointSaverListener):  # type: ignore[misc]
    """Notes how long each checkpoint takes to write."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._began = 0.0

    def before_save(self, session: Any, global_step_value: int) -> None:
        self._began = time.perf_counter()

    def after_save(self, session: Any, global_step_value: int) -> None:
        self.seconds.append(time.perf_counter() - self._began)
