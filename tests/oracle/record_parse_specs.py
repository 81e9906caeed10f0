"""Record the calls of tests/model/feature_columns/parse_scenes.py with tf.estimator 2.15.1, on both faces.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_parse_specs`.
Writes parse_specs.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tensorflow as tf
from tests.model.feature_columns.parse_scenes import GIVEN, REFUSED, plain, refusal, shared
from tests.parity import recordings

if __name__ == "__main__":
    faces = {"v1": tf.compat.v1.estimator, "v2": tf.estimator}
    content = {
        "given": {name: {key: plain(scene(face)) for key, face in faces.items()} for name, scene in GIVEN.items()},
        "refused": {
            name: {key: refusal(scene, face) for key, face in faces.items()} for name, (scene, _) in REFUSED.items()
        },
        "shared": {
            "v1": shared(faces["v1"], tf.compat.v1.feature_column.shared_embedding_columns),
            "v2": shared(faces["v2"], tf.feature_column.shared_embeddings),
        },
    }
    recordings.save_json("parse_specs", tf.__version__, content)
