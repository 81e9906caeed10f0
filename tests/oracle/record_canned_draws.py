"""Record what canned models of tf.estimator 2.15.1 do by chance: first centers of k-means, mini-batches, dual ascent.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_canned_draws`.
Writes canned_draws.npz into tests/data/oracle-2.15.1/: `first:<way>` the centers before the first step,
`batch:<number>` each outcome of a step over a batch (the original has several, as chance has it), `start:<case>:` the
variables of a linear model after two steps, `end:<case>:` those after many.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf
from tests.estimator.canned import clusters, dual
from tests.parity import recordings

FACES = {"v1": tf.compat.v1.estimator, "v2": tf.estimator}
RUNS = 40

if __name__ == "__main__":
    arrays, folder = {}, Path(tempfile.mkdtemp())
    for way in clusters.WAYS:
        arrays[f"first:{way}"] = clusters.first_centers(FACES["v1"], way, str(folder / way))
    outcomes: list[np.ndarray] = []
    for number in range(RUNS):
        centers = clusters.after_a_batch(FACES["v1"], str(folder / f"batch {number}"))
        if not any(np.allclose(centers, known, rtol=1e-5) for known in outcomes):
            arrays[f"batch:{len(outcomes)}"] = centers
            outcomes.append(centers)
    print(len(outcomes), "outcomes of a batch")
    for name, case in dual.CASES.items():
        api, model_dir = FACES[case.face], folder / name
        for part, steps in (("start", 2), ("end", dual.STEPS)):
            found = dual.trained(api, case, model_dir, steps)
            arrays |= {f"{part}:{name}:{key}": value for key, value in found.items()}
    recordings.save_arrays("canned_draws", tf.__version__, arrays)
