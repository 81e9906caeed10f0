"""Record what runs of tf.estimator 2.15.1 give: random numbers, states between calls, counters, failures, hooks.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_runs [name]`.
Writes draws.json, counters.json, failures.json, fresh.json, hook_kinds.json and open_order.json (or the named one) into
tests/data/oracle-2.15.1/. Each scene runs twice; if the runs differ (hooks of the original read the counter beside the
step), seven times, and what most of them give is recorded. Those of open_order.json run ten times; all are recorded.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import tensorflow as tf
from tests.parity import recordings
from tests.parity.draw_scenes import Scene
from tests.parity.run_scenes import OPEN_RECORDINGS, RECORDINGS


def runs(scene: Scene, times: int) -> list[Any]:
    """What a scene gives, in a new folder each time."""
    given = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            given.append(json.loads(json.dumps(scene(tf.estimator, Path(folder) / "run"))))
    return given


def usual(name: str, scene: Scene) -> Any:
    """What a scene gives, as a rule."""
    given = runs(scene, 2)
    if given[0] == given[1]:
        return given[0]
    given += runs(scene, 5)
    best = max(given, key=given.count)
    if given.count(best) < 4:
        raise ValueError(f"{name!r} gives one thing and then another: {given}")
    return best


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")
    asked = sys.argv[1:] or [*RECORDINGS, *OPEN_RECORDINGS]
    for recording in asked:
        if recording in RECORDINGS:
            results = {name: usual(name, scene) for name, scene in RECORDINGS[recording].items()}
        else:
            results = {name: runs(scene, 10) for name, scene in OPEN_RECORDINGS[recording].items()}
        recordings.save_json(recording, tf.__version__, {"scenes": results})
