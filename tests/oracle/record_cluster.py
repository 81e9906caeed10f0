"""Record where tf.estimator 2.15.1 places ops in a cluster, and which tasks its train_and_evaluate refuses.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_cluster`.
Writes cluster.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.parity import recordings
from tests.parity.cluster_scenes import outcomes

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        recordings.save_json("cluster", tf.__version__, outcomes(tf.estimator, Path(folder)))
