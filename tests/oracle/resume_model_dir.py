"""Evaluate, predict from and train on a given model_dir with tf.estimator 2.15.1, and write down the numbers.

Started by tests/parity/test_oracle_reads_ours.py with an environment that holds tensorflow 2.15.1:
`python -m tests.oracle.resume_model_dir KIND MODEL_DIR OUT`. Writes OUT/numbers.json and OUT/arrays.npz.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
from tests.parity import recordings, scenes

if __name__ == "__main__":
    kind, model_dir, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if tf.__version__ != recordings.TENSORFLOW:
        sys.exit(f"this environment holds TensorFlow {tf.__version__}, expected {recordings.TENSORFLOW}")
    result = scenes.resume(tf.estimator, kind, model_dir)
    arrays = {group: result.pop(group) for group in recordings.ARRAY_GROUPS}
    flat = {key: value for group, found in arrays.items() for key, value in recordings.prefixed(group, found).items()}
    (out / "numbers.json").write_text(json.dumps(result))
    np.savez(out / "arrays.npz", **flat)
