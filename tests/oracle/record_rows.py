"""Record what tf.estimator 2.15.1 makes of the rows of tests/parity/row_scenes.py, and of models that read them.

Run from the root of the project with an environment of tensorflow 2.15.1 and pandas:
`python -m tests.oracle.record_rows`. Writes rows.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tensorflow as tf
from tests.parity import recordings
from tests.parity.row_models import RUNS
from tests.parity.row_scenes import NUMPY, PANDAS, REFUSED, outcome

if __name__ == "__main__":
    estimator = tf.compat.v1.estimator
    with tempfile.TemporaryDirectory() as folder:
        runs = {name: run(estimator, Path(folder) / str(number)) for number, (name, run) in enumerate(RUNS.items())}
    rows = {
        "numpy": {name: outcome(make, estimator.inputs) for name, make in NUMPY.items()},
        "pandas": {name: outcome(make, estimator.inputs) for name, make in PANDAS.items()},
        "refused": {name: outcome(make, estimator.inputs) for name, (make, _) in REFUSED.items()},
        "runs": runs,
    }
    recordings.save_json("rows", tf.__version__, rows)
