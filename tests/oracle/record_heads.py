"""Record what the heads of tf.estimator 2.15.1 do with the cases of tests/model/heads/cases.py.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_heads`.
Writes heads.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.model.heads import measure
from tests.model.heads.cases import CASES, KINDS
from tests.parity import recordings

if __name__ == "__main__":
    content = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, case) in enumerate(CASES.items()):
            content[name] = {
                "outside": measure.outside(tf.estimator, case),
                "specs": measure.specs(tf.estimator, case),
                "sgd": measure.trained(tf.estimator, case, "sgd", Path(folder) / f"sgd-{number}"),
            }
            if name in KINDS:
                content[name]["adam"] = measure.trained(tf.estimator, case, "adam", Path(folder) / f"adam-{number}")
    recordings.save_json("heads", tf.__version__, {"cases": content})
