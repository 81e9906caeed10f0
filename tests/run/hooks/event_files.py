"""What is in the event files of a directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1


def _events(directory: Path) -> list[Any]:
    with tf.Graph().as_default():  # not closed: another writer within the same second would take the same file
        v1.summary.FileWriterCache.get(str(directory)).flush()
    return [event for file in sorted(directory.glob("events.*")) for event in v1.train.summary_iterator(str(file))]


def values(directory: Path, tag: str) -> list[tuple[int, float]]:
    """The numbers under a tag, as (step, value)."""
    found = [(event.step, value) for event in _events(directory) for value in event.summary.value]
    return [(step, value.simple_value) for step, value in found if value.tag == tag]


def tags(directory: Path) -> set[str]:
    """All tags."""
    return {value.tag for event in _events(directory) for value in event.summary.value}


def session_marks(directory: Path) -> list[tuple[int, int]]:
    """The session marks, as (step, status)."""
    return [(event.step, event.session_log.status) for event in _events(directory) if event.HasField("session_log")]
