"""Runs to look at: one small model, its three modes, and everything that can be seen of a run as plain values."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity import model_dirs
from tests.parity.result_scenes import log_lines

import lightwell as lw

v1 = tf.compat.v1
MODES = ("train", "evaluate", "predict")
BATCHES, ROWS, WIDTH = 11, 4, 3
X = np.sin(np.arange(BATCHES * ROWS * WIDTH, dtype=np.float64)).reshape(-1, WIDTH).astype(np.float32)
Y = X.sum(axis=1, keepdims=True)


def batch(number: int) -> Any:
    """The features of a batch, counted from 1; training goes through the data again and again."""
    first = (number - 1) % BATCHES * ROWS
    return X[first : first + ROWS]


def data(repeat: int | None = 1) -> Any:
    """All batches, `repeat` times."""
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(ROWS, drop_remainder=True).repeat(repeat)


def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    """Two layers with dropout in a function between, a tensor that can be fed, a summary and a metric."""
    shift = v1.placeholder_with_default(np.float32(0), [], name="shift")
    hidden = lw.layers.dense(features["x"], 4, activation=tf.nn.tanh, name="hidden") + shift
    dropped = tf.function(lambda value: tf.nn.dropout(value, rate=0.25, seed=2))(hidden)
    output = tf.identity(lw.layers.dense(dropped, 1, name="out"), name="output")
    v1.summary.scalar("hidden_mean", tf.reduce_mean(hidden, name="the_mean"))
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, predictions={"output": output})
    loss = tf.reduce_mean(tf.square(output - labels), name="the_loss")
    train_op = v1.train.AdamOptimizer(0.05).minimize(loss, v1.train.get_global_step())
    metrics = {"mae": v1.metrics.mean_absolute_error(labels, output)}
    return lw.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


@dataclass
class Observer:
    """Somebody who looks at a run.

    Attributes:
        hooks: given to the run.
        seen: what was seen, as plain values; asked after the run.
        taps: given to the run.
        says: a text that is in the log lines it makes.
    """

    hooks: Sequence[Any] = ()
    seen: Callable[[], Any] = lambda: None
    taps: Any = None
    says: str = "nothing is said like this"


@dataclass
class Looks:
    """Values seen at some batches: `(number, values)`."""

    all: list[tuple[int, Any]] = field(default_factory=list)

    def add(self, number: int, values: Any) -> None:
        self.all.append((int(number), plain(values)))


@dataclass(frozen=True)
class Call:
    """What one call gave."""

    seen: Any
    result: Any
    said: list[str]


class Calls(list[Call]):
    """Two calls, and the events that they left."""

    def __init__(self, both: Iterable[Call], events: list[Any]) -> None:
        super().__init__(both)
        self.events = events


def plain(value: Any) -> Any:
    """A value that can be compared whole, with types and all bits."""
    if isinstance(value, dict) or hasattr(value, "keys"):
        return {key: plain(value[key]) for key in value}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    array = np.asarray(value)
    return (str(array.dtype), array.shape, array.tobytes() if array.dtype != object else array.tolist())


def estimator(lib: Any, model_dir: Path, **settings: Any) -> Any:
    """An Estimator of the model; `lib` says whether its steps are fused."""
    quiet = {"tf_random_seed": 5, "save_checkpoints_steps": 100_000, "save_summary_steps": None}
    config = lib.RunConfig(**{**quiet, "log_step_count_steps": None, **settings})
    return lib.Estimator(settings.pop("model_fn", model_fn), str(model_dir), config)


def calls(
    lib: Any, mode: str, folder: Path, make: Callable[[Path], Observer] = lambda _: Observer(), **settings: Any
) -> Calls:
    """Two calls in a row by one Estimator, each with an observer of its own."""
    est = estimator(lib, folder, **settings)
    both = [_call(est, mode, folder, make(folder)) for _ in range(2)]
    return Calls(both, events(folder))


def _call(est: Any, mode: str, folder: Path, observer: Observer) -> Call:
    given: list[Any] = []
    lines = log_lines(folder, lambda: given.append(_RUN[mode](est, observer)))
    said = [line for line in lines if observer.says in line]
    return Call(observer.seen(), given[0], said)


def _train(est: Any, observer: Observer) -> Any:
    est.train(lambda: data(None), hooks=list(observer.hooks), steps=BATCHES)
    return plain(model_dirs.values(est.model_dir))


def _evaluate(est: Any, observer: Observer) -> Any:
    more = {} if observer.taps is None else {"taps": observer.taps}
    result = est.evaluate(data, hooks=list(observer.hooks), **more)
    return [plain(dict(result)), plain(getattr(result, "taps", {}))]


def _predict(est: Any, observer: Observer) -> Any:
    more = {} if observer.taps is None else {"taps": observer.taps}
    rows = est.predict(data, hooks=list(observer.hooks), **more)
    return [[plain(dict(row)), plain(dict(getattr(row, "batch", {})))] for row in rows]


_RUN = {"train": _train, "evaluate": _evaluate, "predict": _predict}


def events(folder: Path) -> list[Any]:
    """Every summary below a folder: where, step, tag and bits. Of rates and of paths only that they are there."""
    v1.summary.FileWriterCache.clear()
    return [
        [path.parent.name if path.parent != folder else "", event.step, value.tag, _bits(value)]
        for path in sorted(folder.rglob("events.out.tfevents*"), key=_when_made)
        for event in v1.train.summary_iterator(str(path))
        for value in event.summary.value
    ]


def _when_made(path: Path) -> Any:
    return [str(path.parent), *(int(number) for number in re.findall(r"\d+", path.name))]


def _bits(value: Any) -> Any:
    return None if value.tag in ("global_step/sec", "checkpoint_path") else value.SerializeToString()


def copied(folder: Path, to: Path) -> Path:
    """A copy of a trained model, so that each run has its own."""
    shutil.copytree(folder, to)
    return to
