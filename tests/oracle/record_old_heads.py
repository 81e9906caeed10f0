"""Record what the heads of TensorFlow 1 in tensorflow_estimator 2.15 do with the old cases.

The cases are in tests/model/heads/cases.py.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_old_heads`.
Writes old_heads.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tensorflow as tf
from tensorflow_estimator.python.estimator.canned import head
from tests.model.heads import measure
from tests.model.heads.cases import OLD_CASES
from tests.parity import recordings

if __name__ == "__main__":
    content = {
        name: {"losses": measure.old_losses(head, case), "specs": measure.specs(head, case)}
        for name, case in OLD_CASES.items()
    }
    recordings.save_json("old_heads", tf.__version__, {"cases": content})
