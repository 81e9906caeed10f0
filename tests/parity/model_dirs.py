"""What a `model_dir` holds, as plain values: file names without clocks and hosts, variables, event tags and steps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1
# A description of the model, which `est.describe` and `est.layers` read; where its checkpoints come from; who trains.
OURS = frozenset({"description.json", "lineage.jsonl", "training.lock"})


def files(model_dir: str | Path) -> list[str]:
    """Every file under `model_dir`, sorted; `events.out.tfevents.<time>.<host>...` is cut to `events.out.tfevents`."""
    found = (path.relative_to(model_dir).as_posix() for path in Path(model_dir).rglob("*") if path.is_file())
    return sorted({re.sub(r"(events\.out\.tfevents).*", r"\1", name) for name in found})


def files_of_both(model_dir: str | Path) -> list[str]:
    """`files` without those that only we write."""
    return [name for name in files(model_dir) if name not in OURS]


def variables(model_dir: str | Path) -> dict[str, list[int]]:
    """Name to shape, from the newest checkpoint."""
    return {name: list(shape) for name, shape in tf.train.list_variables(str(model_dir))}


def values(model_dir: str | Path) -> dict[str, Any]:
    """Name to value, from the newest checkpoint."""
    return {name: tf.train.load_variable(str(model_dir), name) for name in variables(model_dir)}


def _event_row(event: Any) -> list[list[Any]]:
    what = event.WhichOneof("what")
    if what == "summary":
        return [[event.step, "summary", value.tag, value.WhichOneof("value")] for value in event.summary.value]
    if what == "session_log":
        return [[event.step, what, int(event.session_log.status), None]]
    return [[event.step, what, None, None]]


def events(directory: str | Path) -> list[list[Any]]:
    """`[step, what, tag or status, kind of value]` of every event of a directory, in the order written."""
    rows: list[list[Any]] = []
    for path in sorted(Path(directory).glob("events.out.tfevents*")):
        for event in v1.train.summary_iterator(str(path)):
            rows += _event_row(event)
    return rows


def scalars(directory: str | Path, tag: str) -> list[list[float]]:
    """`[step, value]` of a scalar tag."""
    return [
        [event.step, value.simple_value]
        for path in sorted(Path(directory).glob("events.out.tfevents*"))
        for event in v1.train.summary_iterator(str(path))
        for value in event.summary.value
        if value.tag == tag
    ]
