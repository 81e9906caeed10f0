"""A run without a session: hooks are told of steps one after the other, and what they saw is noted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1


class Context:
    """What `after_run` is handed."""

    def __init__(self, step: int, loss: float = 0.5, session: Any = None) -> None:
        self.global_step, self.loss_value, self.session = step, loss, session
        self.stopped = self.nan_is_expected = False

    def request_stop(self) -> None:
        self.stopped = True


def seen_steps(hook: Any, steps: Sequence[int]) -> list[int]:
    """Runs through the global steps (the counter after each) the way the engine does, and returns those looked at."""
    seen = []
    for step in steps:
        if hook.next_look(step - 1) <= step or hook.next_look_seconds() <= 0:
            seen.append(step)
            hook.after_run(Context(step), SimpleNamespace(results=None))
    return seen


def values(directory: Path) -> list[tuple[int, str, float]]:
    """The numbers in a directory's event files, as (step, tag, value)."""
    v1.summary.FileWriterCache.get(str(directory)).flush()
    events = [event for file in sorted(directory.glob("events.*")) for event in v1.train.summary_iterator(str(file))]
    return [(event.step, value.tag, value.simple_value) for event in events for value in event.summary.value]


def session_marks(directory: Path) -> list[tuple[int, int]]:
    """The session marks in a directory's event files, as (step, status)."""
    v1.summary.FileWriterCache.get(str(directory)).flush()
    events = [event for file in sorted(directory.glob("events.*")) for event in v1.train.summary_iterator(str(file))]
    return [(event.step, event.session_log.status) for event in events if event.HasField("session_log")]
