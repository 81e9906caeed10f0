"""Record what the canned models of tests/estimator/canned do in tf.estimator 2.15.1.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_canned`, with
names of files (`canned_rnn`) for those only. Writes each as .json (what came out) and .npz (the variables that each
model started from) into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import tensorflow as tf
from tests.estimator.canned import cases, clusters, measure, sequences
from tests.parity import recordings

FACES = {"v1": tf.compat.v1.estimator, "v2": tf.estimator}
FILES = {"canned": cases.CASES, "canned_rnn": sequences.CASES, "canned_kmeans": clusters.CASES}

if __name__ == "__main__":
    for file in sys.argv[1:] or FILES:
        results, starts = {}, {}
        with tempfile.TemporaryDirectory() as folder:
            for number, (name, case) in enumerate(FILES[file].items()):
                model_dir = Path(folder) / str(number)
                variables = measure.first_steps(FACES[case.face], case, model_dir)
                starts |= {f"{name}:{key}": value for key, value in variables.items()}
                results[name] = measure.next_steps(FACES[case.face], case, model_dir)
                print(name, results[name]["losses"][-1], flush=True)
        recordings.save_json(file, tf.__version__, {"cases": results})
        recordings.save_arrays(file, tf.__version__, starts)
