"""What a verb needs is loaded with the first one that is used, not with the Estimator."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests import children

# TensorFlow comes first: what it loads is not ours.
_LOADED = """
import sys
import tensorflow
before = set(sys.modules)
import lightwell as lw
lw.EstimatorSpec, lw.RunConfig, lw.ScheduledHook, lw.layers.dense
est = lw.Estimator(lambda features, mode: lw.EstimatorSpec(mode, predictions=features), sys.argv[1])
print(*sorted(set(sys.modules) - before))
tensorflow.get_logger().setLevel("ERROR")
print(*est.predict(lambda: tensorflow.data.Dataset.range(3).batch(2)))
"""
# What a program that only defines its model must not pay for.
_LATER = ("lightwell.run.engine.", "lightwell.model.interop", "lightwell.rnn_cell")


def test_making_an_estimator_loads_nothing_of_others_and_no_engine(tmp_path: Path) -> None:
    environment = children.environment(TF_CPP_MIN_LOG_LEVEL="3")
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, str(tmp_path)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    first, rows = done.stdout.splitlines()
    loaded = set(first.split())
    # rich, pandas, pyarrow, IPython, asyncio and their like: whatever is not ours is loaded by who needs it.
    assert {name for name in loaded if name.partition(".")[0] != "lightwell"} == set()
    assert {name for name in loaded if name.startswith(_LATER)} == set()
    assert rows == "0 1 2", "and the first verb finds it all"
