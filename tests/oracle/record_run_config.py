"""Record what tf.estimator.RunConfig of 2.15.1 makes of settings and TF_CONFIGs: every property, or the exception type.

Run from the root of the project with an environment of tensorflow 2.15.1: `python -m tests.oracle.record_run_config`.
Writes run_config.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tests.parity import recordings, run_configs


def _changes(outcome: dict[str, Any], default: dict[str, Any]) -> dict[str, Any]:
    """Only what differs from the default, to keep the table readable."""
    if not outcome.get("config"):
        return outcome
    return {"config": {key: value for key, value in outcome["config"].items() if value != default[key]}}


if __name__ == "__main__":
    outcomes = run_configs.all_outcomes(tf.estimator)
    default = outcomes["default"]["config"]
    cases = {name: _changes(outcome, default) for name, outcome in outcomes.items() if name != "default"}
    opened = run_configs.open_outcomes(tf.estimator)
    recordings.save_json("run_config", tf.__version__, {"default": default, "cases": cases, "open": opened})
