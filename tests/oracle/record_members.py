"""Record which members of tf.estimator.Estimator 2.15.1 a subclass may override, which overrides its verbs call, and
which fields an object has.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_members`.
Writes members.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.parity import members, recordings

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        names = members.members_of(tf.estimator.Estimator)
        recorded = {
            "members": members.verdicts(tf.estimator, names, Path(folder) / "members"),
            "noticed": members.noticed(tf.estimator, Path(folder) / "noticed"),
            "unsealed": members.unsealed(tf.estimator, Path(folder) / "unsealed"),
            "fields": members.fields(tf.estimator, Path(folder) / "fields"),
        }
    recordings.save_json("members", tf.__version__, recorded)
