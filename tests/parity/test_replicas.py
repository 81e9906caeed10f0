"""Models under MirroredStrategy, as the original trained and evaluated them on the same devices."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from tests.parity import recordings, replica_runs

import lightwell as lw

RECORDED = recordings.load_json("replicas")["models"]
# The original kept an optimizer's state once for each replica; a checkpoint of ours shows no trace of them.
TRACE = "/replica_"


@functools.cache
def measured(name: str, count: int) -> dict[str, Any]:
    return replica_runs.measured(replica_runs.models(lw, lw.layers)[name](replica_runs.config_of(lw, count)))


QUICK = [("momentum", 4), ("batch_norm", 2), ("linear", 2)]
REST = [(name, count) for name in RECORDED for count in (2, 4) if (name, count) not in QUICK]


@pytest.mark.parametrize(("name", "count"), [*QUICK, *(pytest.param(*one, marks=pytest.mark.slow) for one in REST)])
def test_losses_metrics_and_weights_are_those_of_the_original(name: str, count: int) -> None:
    recorded, ours = RECORDED[name][str(count)], measured(name, count)
    np.testing.assert_allclose(ours["losses"], recorded["losses"], rtol=1e-5, atol=1e-5)
    assert ours["metrics"] == pytest.approx(recorded["metrics"], rel=1e-5, abs=1e-5)
    weights = {name: value for name, value in recorded["weights"].items() if TRACE not in name}
    assert list(ours["weights"]) == list(weights)
    for one, value in weights.items():
        np.testing.assert_allclose(ours["weights"][one], value, rtol=1e-5, atol=1e-5, err_msg=one)
