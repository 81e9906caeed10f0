"""Runs to compare: the same training with steps fused and one by one, and everything that can be seen of it."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.conftest import LogLines

import lightwell as lw

v1 = tf.compat.v1
ROWS = 24
NEVER = sys.maxsize


def arrays() -> tuple[dict[str, Any], Any]:
    random = np.random.RandomState(0)
    features = {
        "x": random.rand(ROWS, 6).astype(np.float32),
        "ids": random.randint(0, 20, (ROWS, 4)),
        "word": np.array([b"a", b"b", b"c", b"unknown"])[random.randint(0, 4, ROWS)],
    }
    return features, random.rand(ROWS, 1).astype(np.float32)


def batches(count: int | None = None) -> Callable[[], Any]:
    """An `input_fn` of `count` batches, or of batches without end."""

    def input_fn() -> Any:
        dataset = tf.data.Dataset.from_tensor_slices(arrays()).repeat().batch(5)
        return dataset if count is None else dataset.take(count)

    return input_fn


class Look(lw.ScheduledHook):
    """Looks at each step that is a multiple of `every`, and notes what it sees."""

    def __init__(self, every: int, tensors: Sequence[str], *, in_bulk: bool = False, stop_at: int = NEVER) -> None:
        self.every, self.names, self.in_bulk, self.stop_at = every, list(tensors), in_bulk, stop_at
        self.seen: list[Any] = []
        self._before = -1

    def begin(self) -> None:
        graph = v1.get_default_graph()
        self.tensors = {name: graph.get_tensor_by_name(name) for name in self.names}

    def looks_at(self) -> Any:
        return self.tensors

    def next_look(self, count: int) -> int:
        return (count // self.every + 1) * self.every

    def before_run(self, run_context: Any) -> Any:
        self._before = run_context.global_step
        return v1.train.SessionRunArgs(self.tensors)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        values = {name: (type(value), np.asarray(value).tolist()) for name, value in run_values.results.items()}
        self.seen.append((self._before, run_context.global_step, str(run_context.loss_value), values))
        if run_context.global_step >= self.stop_at:
            run_context.request_stop()


class Calls(lw.ScheduledHook):
    """Looks at no step, and notes how many ran in each call."""

    keeps_to_context = True

    def __init__(self) -> None:
        self.steps: list[int] = []

    def next_look(self, count: int) -> int:
        return NEVER

    def after_run(self, run_context: Any, run_values: Any) -> None:
        raise AssertionError("it asked for no step")

    def passed(self, steps: int) -> None:
        self.steps.append(steps)


@dataclass
class Seen:
    """What a training left behind."""

    error: str = ""
    weights: dict[str, Any] = field(default_factory=dict)
    events: list[Any] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    looks: list[Any] = field(default_factory=list)

    def check_same(self, other: Seen) -> None:
        """Everything equal, the weights of every checkpoint to the last bit."""
        assert self.error == other.error
        assert self.lines == other.lines
        assert self.looks == other.looks
        assert self.events == other.events
        assert list(self.weights) == list(other.weights)
        for name, value in self.weights.items():
            np.testing.assert_array_equal(value, other.weights[name], err_msg=name)


def train(
    directory: Path,
    model_fn: Callable[..., Any],
    fuse_steps: Any,
    *,
    hooks: Sequence[Any] = (),
    data: Callable[[], Any] | None = None,
    steps: int | None = 23,
    **settings: Any,
) -> Seen:
    """Trains in `directory` and gathers what can be seen."""
    defaults = {"tf_random_seed": 7, "save_checkpoints_steps": 8, "log_step_count_steps": 5, "save_summary_steps": 6}
    config = lw.RunConfig(model_dir=str(directory), fuse_steps=fuse_steps, **{**defaults, **settings})
    seen, log, logger = Seen(), LogLines(), logging.getLogger("tensorflow")
    level = logger.level
    logger.addHandler(log)
    logger.setLevel(logging.INFO)
    try:
        lw.Estimator(model_fn, config=config).train(data or batches(), steps=steps, hooks=list(hooks))
    except Exception as error:
        seen.error = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    finally:
        logger.removeHandler(log)
        logger.setLevel(level)
    # TensorFlow says only once in a process that something is deprecated.
    lines = [line for line in log.lines if "Using config" not in line and "deprecated" not in line]
    seen.lines = [_without_times(line, directory) for line in lines]
    seen.weights, seen.events = weights(directory), events(directory)
    seen.looks = [hook.seen for hook in hooks if isinstance(hook, Look)]
    return seen


def weights(directory: Path) -> dict[str, Any]:
    """All variables of all checkpoints."""
    found = {}
    for index in sorted(directory.glob("*.index")):
        reader = tf.train.load_checkpoint(str(index.with_suffix("")))
        for name in sorted(reader.get_variable_to_shape_map()):
            found[f"{index.stem}: {name}"] = reader.get_tensor(name)
    return found


def events(directory: Path) -> list[Any]:
    """All events but their times, graphs left out."""
    v1.summary.FileWriterCache.clear()
    found = []
    for file in sorted(directory.glob("events.*")):
        for event in v1.train.summary_iterator(str(file)):
            values = [_value(value) for value in event.summary.value]
            found.append((event.step, event.WhichOneof("what"), values, event.session_log.status))
    return found


def _value(value: Any) -> Any:
    return (value.tag, None if value.tag == "global_step/sec" else value.SerializeToString())


def _without_times(line: str, directory: Path) -> str:
    line = line.replace(str(directory), "DIR")
    return re.sub(r"\(\d+\.\d+ sec\)|global_step/sec: .*", "TIME", line)
