"""Everybody who can look at a run: `OBSERVERS` maps a name to who it is, in which modes it can look, and at what.

`sees` tells which batches it must be shown, by their number in the call; for a watch in training, by the global step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tensorflow as tf
from tests.contracts.runs import BATCHES, MODES, Looks, Observer, plain

import lightwell as lw

v1 = tf.compat.v1
EVERY_PATH = ["features/x", "layers/hidden", "layers/out/input"]


@dataclass(frozen=True)
class Row:
    """One observer.

    Attributes:
        make: a function of the run's folder.
        modes: where it can look.
        sees: whether it must be shown a batch of that number; None for one that tells no numbers.
        by_step: in training that number is the global step.
    """

    make: Callable[[Path], Observer]
    modes: tuple[str, ...] = MODES
    sees: Callable[[int], bool] | None = None
    by_step: bool = False

    def batches_seen(self, mode: str, number_of_call: int) -> list[int]:
        """The batches of a call that it must be shown, counted from 1."""
        first = BATCHES * number_of_call if self.by_step and mode == "train" else 0
        return [number for number in range(1, BATCHES + 1) if self.sees is None or self.sees(first + number)]


class FetchingHook(v1.train.SessionRunHook):  # type: ignore[misc]
    """An old hook that fetches on each `every`-th batch, and counts."""

    def __init__(self, fetches: Any, looks: Looks, every: int = 1) -> None:
        self.fetches, self.looks, self.every = fetches, looks, every
        self.count = 0

    def before_run(self, run_context: Any) -> Any:
        self.count += 1
        return v1.train.SessionRunArgs(self.fetches) if self.count % self.every == 0 else None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results is not None:
            self.looks.add(self.count, run_values.results)


def _fetching(fetches: Any, every: int = 1) -> Callable[[Path], Observer]:
    def make(folder: Path) -> Observer:
        looks = Looks()
        return Observer([FetchingHook(fetches, looks, every)], lambda: looks.all)

    return make


def watching(*paths: Any, **cadence: Any) -> Observer:
    """A watch that notes what it is shown."""
    looks = Looks()
    watch = lw.Watch(*paths, do=lambda step: looks.add(step.batch, dict(step)), **cadence)
    return Observer([watch], lambda: looks.all)


def _watch(sees: Callable[[int], bool], *paths: Any, modes: tuple[str, ...] = MODES, **cadence: Any) -> Row:
    return Row(lambda folder: watching(*paths, **cadence), modes, sees, by_step=True)


def _hook(make: Callable[[Path], Any], says: str = "nothing is said like this") -> Callable[[Path], Observer]:
    return lambda folder: Observer([make(folder)], says=says)


def _several(folder: Path) -> Observer:
    """Watches of several cadences, one of them to TensorBoard, one that never comes to look."""
    cadences = [{"every": 2}, {"every": 5}, {"at": [2, 5, 13]}, {"every_secs": 1e6}]
    parts = [watching("features/x", **cadence) for cadence in cadences]
    written = lw.Watch(lw.stats("layers/hidden"), every=3, to="tensorboard")
    hooks = [hook for part in parts for hook in part.hooks]
    return Observer([*hooks, written], lambda: [part.seen() for part in parts])


def _final_ops(folder: Path) -> Observer:
    hook = v1.train.FinalOpsHook(["hidden/kernel/Read/ReadVariableOp:0"])
    return Observer([hook], lambda: plain(hook.final_ops_values))


def _feeding(folder: Path) -> Observer:
    looks = Looks()
    hooks = [v1.train.FeedFnHook(lambda: {"shift:0": 0.5}), FetchingHook("shift:0", looks)]
    return Observer(hooks, lambda: looks.all)


def _stop_when(folder: Path) -> Observer:
    looks = Looks()

    def fifth(value: Any) -> bool:
        looks.add(len(looks.all) + 1, value)
        return len(looks.all) == 5

    return Observer([lw.stop_when("features/x", fifth)], lambda: looks.all)


def _tapping(taps: Any) -> Callable[[Path], Observer]:
    return lambda folder: Observer(taps=taps)


def _each(count: int) -> Callable[[int], bool]:
    return lambda number: number % count == 0


_ALL = _each(1)
_IN_TRAINING = ("gradients/weights/*", "updates/weights/hidden/kernel", "weights/*")
_TRAIN, _LOOKED_OVER = ("train",), ("evaluate", "predict")
OBSERVERS: dict[str, Row] = {
    "a hook that fetches tensors": Row(_fetching({"mean": "the_mean:0", "out": "output:0"}), sees=_ALL),
    "a hook that fetches paths": Row(_fetching({"x": "features/x", "h": "layers/hidden"}, every=3), sees=_each(3)),
    "LoggingTensorHook": Row(
        _hook(lambda _: v1.train.LoggingTensorHook({"seen": "the_mean:0"}, every_n_iter=3), "seen = ")
    ),
    "NanTensorHook": Row(_hook(lambda _: v1.train.NanTensorHook("the_mean:0")), ("train", "predict")),
    "FeedFnHook": Row(_feeding, sees=_ALL),
    "FinalOpsHook": Row(_final_ops, ("train", "evaluate")),
    "StepCounterHook": Row(
        _hook(lambda folder: v1.train.StepCounterHook(4, output_dir=str(folder)), "global_step/sec"), _TRAIN
    ),
    "CheckpointSaverHook": Row(_hook(lambda folder: v1.train.CheckpointSaverHook(str(folder), save_steps=4)), _TRAIN),
    "StopAtStepHook": Row(_hook(lambda _: v1.train.StopAtStepHook(num_steps=7)), _TRAIN),
    "Watch every batch": _watch(_ALL, *EVERY_PATH, every=1),
    "Watch every third": _watch(_each(3), *EVERY_PATH, every=3),
    "Watch by the clock": _watch(_ALL, "features/x", every_secs=1e-9),
    "Watch to TensorBoard": Row(_hook(lambda _: lw.Watch("layers/hidden", every=4, to="tensorboard"))),
    "Watch to the log": Row(_hook(lambda _: lw.Watch("layers/hidden", every=4, name="Told"), "Told at step")),
    "Watch with reductions": _watch(_each(2), lw.stats("layers/*"), lw.histogram("features/x", bins=5), every=2),
    "Watch of the loss": _watch(_each(2), "loss", modes=("train", "evaluate"), every=2),
    "Watch of gradients and weights": _watch(_each(3), *_IN_TRAINING, modes=_TRAIN, every=3),
    "watches of several cadences": Row(_several),
    "stop_when": Row(_stop_when),
    "taps": Row(_tapping(EVERY_PATH), _LOOKED_OVER),
    "taps with reductions": Row(
        _tapping([lw.stats("layers/hidden"), lw.histogram("features/x", bins=4)]), ("predict",)
    ),
    "taps by a predicate": Row(_tapping([lambda entry: entry.path == "layers/hidden"]), _LOOKED_OVER),
}
