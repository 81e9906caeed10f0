"""Start canned models with tf.estimator 2.15.1, go on with them and with those that we started, and keep the numbers.

Started by tests/estimator/canned/test_both_ways.py with an environment that holds tensorflow 2.15.1:
`python -m tests.oracle.resume_canned FOLDER NAME...`. Writes FOLDER/numbers.json and FOLDER/variables.npz.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.estimator.canned import both_ways
from tests.parity import recordings

FACES = {"v1": tf.compat.v1.estimator, "v2": tf.estimator}

if __name__ == "__main__":
    scratch = Path(sys.argv[1])
    if tf.__version__ != recordings.TENSORFLOW:
        sys.exit(f"this environment holds TensorFlow {tf.__version__}, expected {recordings.TENSORFLOW}")
    numbers: dict[str, Any] = {}
    variables: dict[str, Any] = {}
    for name in sys.argv[2:]:
        api = FACES[both_ways.MODELS[name].case.face]
        both_ways.start(api, name, both_ways.THEIRS, scratch)
        for origin in (both_ways.OURS, both_ways.THEIRS):
            result = both_ways.go_on(api, name, both_ways.folder_of(scratch, name, origin, both_ways.THEIRS))
            variables |= {f"{name}|{origin}|{key}": value for key, value in result.pop("variables").items()}
            numbers[f"{name}|{origin}"] = result
    (scratch / "numbers.json").write_text(json.dumps(numbers))
    np.savez(scratch / "variables.npz", **variables)
