"""Record the arguments of the canned models of tf.estimator 2.15.1, in order, with their plain defaults.

Run from the root of the project with an environment of tensorflow 2.15.1:
`python -m tests.oracle.record_canned_arguments`.
Writes canned_arguments.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tensorflow as tf
from tests.estimator.canned.arguments import arguments_of_all
from tests.parity import recordings

if __name__ == "__main__":
    faces = {"v1": tf.compat.v1.estimator, "v2": tf.estimator}
    recordings.save_json(
        "canned_arguments", tf.__version__, {face: arguments_of_all(api) for face, api in faces.items()}
    )
