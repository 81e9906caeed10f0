"""Record which exception types tf.estimator 2.15.1 raises for the wrong uses listed in tests/parity/mistakes.py.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_mistakes`.
Writes mistakes.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.parity import recordings
from tests.parity.mistakes import MISTAKES, name_of, raised_by

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        raised = {
            name: name_of(raised_by(mistake, tf.estimator, Path(folder) / str(number)))
            for number, (name, mistake) in enumerate(MISTAKES.items())
        }
    recordings.save_json("mistakes", tf.__version__, {"raised": raised})
