"""Record the signatures that export outputs of tf.estimator 2.15.1 make.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_signatures`.
Writes signatures.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tensorflow as tf
from tests.parity import recordings, signatures

if __name__ == "__main__":
    recordings.save_json("signatures", tf.__version__, {"signatures": signatures.outcomes(tf.estimator.export)})
