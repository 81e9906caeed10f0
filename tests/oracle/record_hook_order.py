"""Record which hook and listener calls tf.estimator 2.15.1 makes, in which order, for every scene of tests/parity.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_hook_order`.
Writes hook_order.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.parity import recordings
from tests.parity.hook_scenes import SCENES

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        results = {
            name: run(tf.estimator, Path(folder) / str(number)) for number, (name, run) in enumerate(SCENES.items())
        }
    lines = {
        name: {"outcome": result["outcome"], "calls": [" ".join(map(str, call)) for call in result["calls"]]}
        for name, result in results.items()
    }
    recordings.save_json("hook_order", tf.__version__, {"scenes": lines})
