"""Record what tf.estimator 2.15.1 calls in local `train_and_evaluate`, in which order, and what its specs take.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_workflow`.
Writes workflow.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.parity import recordings
from tests.parity.workflow_scenes import SCENES
from tests.parity.workflow_specs import CASES, outcome

if __name__ == "__main__":
    lib, base = tf.estimator, tf.estimator.Exporter
    with tempfile.TemporaryDirectory() as folder:
        scenes = {name: run(lib, base, Path(folder) / str(number)) for number, (name, run) in enumerate(SCENES.items())}
    for result in scenes.values():
        result["calls"] = [" ".join(map(str, call)) for call in result["calls"]]
    specs = {name: outcome(case, lib, base) for name, case in CASES.items()}
    recordings.save_json("workflow", tf.__version__, {"scenes": scenes, "specs": specs})
