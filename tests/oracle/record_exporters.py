"""Record what the exporters of tf.estimator 2.15.1 do in the scenes of tests/parity/exporter_scenes.py.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_exporters`.
Writes exporters.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.parity import recordings
from tests.parity.exporter_scenes import SCENES

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        scenes = {name: scene(tf.estimator, Path(folder) / name) for name, scene in SCENES.items()}
    recordings.save_json("exporters", tf.__version__, {"scenes": scenes})
