"""Record what the canned models of tests/canned/cases.py do in tf.estimator 2.15.1.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_canned`.
Writes canned.json (what came out) and canned.npz (the variables that each model started from) into
tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.canned import measure
from tests.canned.cases import CASES
from tests.parity import recordings

FACES = {"v1": tf.compat.v1.estimator, "v2": tf.estimator}

if __name__ == "__main__":
    results, starts = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, case) in enumerate(CASES.items()):
            model_dir = Path(folder) / str(number)
            variables = measure.first_steps(FACES[case.face], case, model_dir)
            starts |= {f"{name}:{key}": value for key, value in variables.items()}
            results[name] = measure.next_steps(FACES[case.face], case, model_dir)
            print(name, results[name]["losses"][-1], flush=True)
    recordings.save_json("canned", tf.__version__, {"cases": results})
    recordings.save_arrays("canned", tf.__version__, starts)
