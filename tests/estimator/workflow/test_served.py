"""Models on a cluster with parameter servers, in real processes: as good as one process trains them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.estimator.workflow.cluster_program import SERVED, wide_data
from tests.estimator.workflow.clusters import Cluster

import lightwell as lw

STEPS = 300


@pytest.mark.parametrize(
    ("model", "tasks"),
    [
        ("wide", {"chief": 1, "worker": 2, "ps": 2}),
        pytest.param("mixed", {"chief": 1, "worker": 1, "ps": 2}, marks=pytest.mark.slow),
    ],
)
def test_a_cluster_trains_as_well_as_one_process(model: str, tasks: dict[str, int], tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, ["served", STEPS, model], **tasks)
    try:
        cluster.start()
        everybody = [(kind, index) for kind, count in tasks.items() for index in range(count)]
        cluster.until_ended(*everybody, ("evaluator", 0))
    finally:
        cluster.close()
    alone = SERVED[model](lw.RunConfig(str(tmp_path / "alone"), save_summary_steps=None))
    alone.train(lambda: wide_data().shuffle(512).repeat().batch(64), steps=STEPS)
    expected = alone.evaluate(lambda: wide_data().batch(512))
    *_, metrics, _ = json.loads(re.findall(r"^RESULT (.*)$", cluster.log("evaluator"), re.MULTILINE)[-1])
    assert expected["accuracy"] > 0.95
    assert metrics["accuracy"] >= expected["accuracy"] - 0.02
    assert STEPS <= metrics["global_step"] <= STEPS + 4
    shapes = {name: value.shape for name, value in cluster.variables().items()}
    assert shapes == {name: alone.get_variable_value(name).shape for name in alone.get_variable_names()}
    assert all("step = " in cluster.log("worker", index) for index in range(tasks["worker"]))
