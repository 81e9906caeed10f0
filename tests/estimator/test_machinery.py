"""What the first verb loads, and importing the Estimator does not."""

from __future__ import annotations

import subprocess
import sys

from tests.contracts.sources import ROOT

# What a program that only defines its model must not pay for. TensorFlow comes first: what it loads is not ours.
_LOADED = """
import sys
import tensorflow
before = set(sys.modules)
import lightwell as lw
lw.Estimator, lw.EstimatorSpec, lw.RunConfig, lw.Watch, lw.layers.dense
print(*sorted(set(sys.modules) - before))
lw.Estimator(lambda features: None, sys.argv[1])
assert "lightwell.estimator.machinery" in sys.modules
"""
_LATER = {
    "lightwell.engine.build",
    "lightwell.engine.pool",
    "lightwell.engine.train",
    "lightwell.estimator.machinery",
    "lightwell.interop",
    "lightwell.rnn_cell",
    "lightwell.sight.predictor",
}


def test_importing_loads_nothing_of_others_and_no_engine(tmp_path: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, str(tmp_path)],
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    # rich, pandas, pyarrow, IPython, asyncio and their like: whatever is not ours is loaded by who needs it.
    assert {name for name in loaded if name.partition(".")[0] != "lightwell"} == set()
    assert loaded & _LATER == set()
    assert "lightwell.estimator.core" in loaded
