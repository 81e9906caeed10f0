"""Record what canned models of tf.estimator 2.15.1 do under MirroredStrategy over two CPUs.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_mirrored`.
Writes canned_mirrored.npz, the variables of each after two steps, and canned_mirrored.json, what comes of four more,
into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.estimator.canned import mirrored
from tests.parity import recordings, replica_runs

FACES = {"v1": tf.compat.v1.estimator, "v2": tf.estimator}

if __name__ == "__main__":
    replica_runs.settle_devices(mirrored.REPLICAS)
    starts, models = {}, {}
    for name, case in mirrored.CASES.items():
        folder = Path(tempfile.mkdtemp())
        starts |= recordings.prefixed(name, mirrored.first_steps(FACES[case.face], case, folder))
        models[name] = mirrored.next_steps(FACES[case.face], case, folder)
        recordings.save_arrays("canned_mirrored", tf.__version__, starts)
        recordings.save_json("canned_mirrored", tf.__version__, {"models": models})
        print(name)
