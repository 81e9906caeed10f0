"""Record what tensorflow_estimator 2.15 does under MirroredStrategy over CPUs, with the models of tests/parity.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_replicas`.
Writes replicas.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tensorflow as tf
from tests.parity import recordings, replica_runs

if __name__ == "__main__":
    replica_runs.settle_devices(4)
    made = replica_runs.models(tf.estimator, tf.compat.v1.layers)
    content = {
        name: {
            str(count): replica_runs.measured(make(replica_runs.config_of(tf.estimator, count))) for count in (1, 2, 4)
        }
        for name, make in made.items()
    }
    recordings.save_json("replicas", tf.__version__, {"models": content})
