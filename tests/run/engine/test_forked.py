"""A process that was forked after its parent had opened a session says so at once; its first step would never end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests import children

PROGRAM = """
import os, sys
import numpy as np
import tensorflow as tf
import lightwell as lw

def model_fn(features, labels, mode):
    x = lw.layers.dense(features["x"], 1)
    return lw.EstimatorSpec(mode, predictions={"x": x})

def input_fn():
    return tf.data.Dataset.from_tensors({"x": np.ones([1, 2], np.float32)})

est = lw.Estimator(model_fn, sys.argv[1])

def in_child():
    child = os.fork()
    if not child:
        try:
            print("rows", len(list(est.predict(input_fn))), flush=True)
        except RuntimeError as error:
            print(type(error).__name__, str(error).partition(" was forked")[0].partition(" (")[0], flush=True)
        os._exit(0)
    os.waitpid(child, 0)

in_child()
list(est.predict(input_fn))
in_child()
list(est.predict(input_fn))
print("parent goes on")
"""


def test_a_late_fork_is_refused_and_an_early_one_works(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path)],
        env=children.environment(TF_CPP_MIN_LOG_LEVEL="3"),
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.stdout.splitlines() == ["rows 1", "ForkedProcess This process", "parent goes on"], done.stderr
