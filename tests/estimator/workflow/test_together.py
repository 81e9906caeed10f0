"""MultiWorkerMirroredStrategy in real processes: the numbers of one process, the same end for all, and what is told."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.workflow.cluster_program import TOGETHER, data, own_part
from tests.estimator.workflow.clusters import Cluster
from tests.parity.run_configs import environment

import lightwell as lw
from lightwell.cli.launch import free_ports
from lightwell.errors import UsageError


def trained(folder: Path, model: str, verb: str, steps: int, **tasks: int) -> Cluster:
    cluster = Cluster(folder, ["together", steps, 0.0, model, verb], **tasks)
    try:
        cluster.start(evaluator=False)
        cluster.until_ended(*((kind, index) for kind, count in tasks.items() for index in range(count)))
    finally:
        cluster.close()
    return cluster


def losses(cluster: Cluster, kind: str, index: int = 0) -> list[float]:
    return [float(loss) for loss in re.findall(r"loss = ([\d.]+), step", cluster.log(kind, index))]


@pytest.fixture(scope="module")
def by_workers(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """Two workers, of which the first is the chief, by `Estimator.train`, as a program of TensorFlow 1."""
    return trained(tmp_path_factory.mktemp("workers"), "momentum", "train", 6, worker=2)


@pytest.fixture(scope="module")
def with_evaluator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A chief, a worker and an evaluator, by `train_and_evaluate`; the worker is killed, and both started again."""
    cluster = Cluster(
        tmp_path_factory.mktemp("evaluator"), ["together", 12, 0.1, "keras", "evaluate"], chief=1, worker=1, evaluator=1
    )
    try:
        cluster.start(evaluator=False)
        cluster.until(lambda: cluster.step() >= 3, "a checkpoint")
        cluster.tell("kill", "worker")
        cluster.until(lambda: cluster.ended("chief"), "the chief to notice")
        assert cluster.ended("chief") == [1]
        cluster.tell("start", "chief")
        cluster.tell("start", "worker")
        cluster.until_ended(("chief", 0), ("worker", 0), ("evaluator", 0))
        yield cluster
    finally:
        cluster.close()


def alone(folder: Path, model: str, *steps: int) -> dict[str, Any]:
    """By one process, with the joined batches; resumed so often, each time from the beginning of the data."""
    made = lw.Estimator(TOGETHER[model], str(folder))
    for count in steps:
        made.train(lambda: data().repeat().batch(8), steps=count)
    return {name: made.get_variable_value(name) for name in sorted(made.get_variable_names())}


@pytest.mark.parametrize(("name", "model", "steps"), [("by_workers", "momentum", 6), ("with_evaluator", "keras", 12)])
def test_the_weights_are_those_of_one_process_with_the_joined_batch(
    name: str, model: str, steps: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    cluster = request.getfixturevalue(name)
    resumed = [int(step) for step in re.findall(r"Restoring parameters from .*-(\d+)\n", cluster.log("chief"))]
    expected = alone(tmp_path, model, *resumed, steps - sum(resumed))
    ours = cluster.variables()
    assert list(ours) == list(expected)
    assert ours["global_step"] == steps
    compared = [name for name in ours if "moving_variance" not in name]  # a mean of variances is none of the whole
    assert len(compared) >= 9
    for variable in compared:
        np.testing.assert_allclose(ours[variable], expected[variable], rtol=1e-5, atol=1e-5, err_msg=variable)


def test_each_process_is_told_its_part_of_the_input_and_the_mean_loss(by_workers: Cluster) -> None:
    assert "CONTEXT 2 0 2\n" in by_workers.log("worker", 0)
    assert "CONTEXT 2 1 2\n" in by_workers.log("worker", 1)
    assert len(losses(by_workers, "worker", 0)) == 6
    assert losses(by_workers, "worker", 0) == losses(by_workers, "worker", 1)


def test_the_first_worker_is_the_chief_and_others_leave_nothing_behind(by_workers: Cluster) -> None:
    assert "WATCHED 2 (3, 4)" in by_workers.log("worker", 0)
    assert "WATCHED" not in by_workers.log("worker", 1)
    assert "Saving checkpoints for 6" in by_workers.log("worker", 0)
    assert "Saving checkpoints" not in by_workers.log("worker", 1)
    assert len([name for name in os.listdir(by_workers.model_dir) if name.startswith("events")]) == 1


def test_a_weight_is_not_changed_in_one_process_alone(by_workers: Cluster) -> None:
    text = "step.edit('weights/dense/kernel'): all processes of the cluster take every step together, each with weights"
    assert f"REFUSED {text}" in by_workers.log("worker", 0)


def test_statistics_of_all_are_saved_and_the_directory_of_a_worker_is_gone(with_evaluator: Cluster) -> None:
    assert any("moving_mean" in name for name in with_evaluator.variables())
    assert not [name for name in os.listdir(with_evaluator.model_dir) if name.startswith("tmp_worker")]


def test_the_evaluator_follows_and_ends(with_evaluator: Cluster) -> None:
    kind, index, metrics = json.loads(re.findall(r"^RESULT (.*)$", with_evaluator.log("evaluator"), re.MULTILINE)[-1])
    assert (kind, index, metrics["global_step"]) == ("evaluator", 0, 12)
    assert Path(with_evaluator.model_dir, "training_finished.json").exists()


def test_a_process_that_is_gone_is_named_and_a_restart_of_all_goes_on(with_evaluator: Cluster) -> None:
    log = with_evaluator.log("chief")
    address = with_evaluator.cluster["worker"][0]
    assert f"train: worker 0 at {address} cannot be reached any more. This process, chief, takes every step" in log
    assert "Start all tasks again: they go on from the last checkpoint; at most the steps since are lost." in log
    assert with_evaluator.ended("chief") == [1, 0]
    assert "Restoring parameters from" in log


def test_a_hook_of_one_process_stops_all_at_the_same_step(tmp_path: Path) -> None:
    cluster = trained(tmp_path, "momentum", "stop", 1000, worker=2)
    assert cluster.step() == 5
    assert "All processes stop at step 5: one asks to, or has no more input." in cluster.log("worker", 0)
    assert "Loss for final step" in cluster.log("worker", 1)


def test_input_that_ends_in_one_process_ends_the_training_of_all_after_its_last_batch(tmp_path: Path) -> None:
    cluster = trained(tmp_path, "momentum", "uneven", 1000, worker=2)
    assert cluster.step() == 3
    assert losses(cluster, "worker", 0) == losses(cluster, "worker", 1)
    expected = alone(tmp_path / "alone", "momentum", 3)
    for variable, value in cluster.variables().items():
        np.testing.assert_allclose(value, expected[variable], rtol=1e-5, atol=1e-5, err_msg=variable)
    for index in (0, 1):
        assert "All processes stop at step 3: one asks to, or has no more input." in cluster.log("worker", index)
        assert "Loss for final step" in cluster.log("worker", index)


def test_without_a_cluster_it_is_a_strategy_of_this_machine(tmp_path: Path) -> None:
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    made = lw.Estimator(TOGETHER["momentum"], config=lw.RunConfig(str(tmp_path / "a"), train_distribute=strategy))
    made.train(lambda: data().repeat().batch(8), steps=6)
    expected = alone(tmp_path / "b", "momentum", 6)
    for name, value in expected.items():
        np.testing.assert_allclose(made.get_variable_value(name), value, rtol=1e-5, atol=1e-5, err_msg=name)


# Texts


def place(kind: str, index: int = 0, **cluster: list[str]) -> dict[str, Any]:
    return {"cluster": cluster, "task": {"type": kind, "index": index}}


def under_strategy(folder: Path, made_in: Any, used_in: Any, **settings: Any) -> Any:
    """An Estimator whose strategy was made under one TF_CONFIG, and whose RunConfig under another."""
    with tf.Graph().as_default(), environment(made_in):  # a strategy starts no server in a graph
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with environment(used_in):
        return lw.Estimator(
            TOGETHER["momentum"], config=lw.RunConfig(str(folder), train_distribute=strategy, **settings)
        )


def test_another_worker_that_cannot_be_reached(tmp_path: Path) -> None:
    own, other = (f"localhost:{port}" for port in free_ports(2))
    here = place("worker", 0, worker=[own, other])
    made = under_strategy(tmp_path, here, here, session_creation_timeout_secs=0.3)
    with pytest.raises(tf.errors.DeadlineExceededError) as told:
        made.train(own_part, steps=1)
    text = str(told.value)
    assert "Session was not ready after waiting 0.3 secs (RunConfig.session_creation_timeout_secs)" in text
    assert f"This process, worker 0, waits. Not reachable: worker 1 at {other}." in text


@pytest.mark.parametrize(
    ("made_in", "used_in", "text"),
    [
        (
            place("chief", chief=["h0:1"], worker=["h1:1"]),
            {},
            r"was made for 2 process\(es\) that train, and TF_CONFIG told RunConfig of 1\. Make both under the same",
        ),
        (
            {},
            place("worker", 0, worker=["h0:1", "h1:1"]),
            r"was made for 1 process\(es\) that train, and TF_CONFIG told RunConfig of 2\.",
        ),
        (
            place("chief", chief=["h0:1"], worker=["h1:1"], ps=["h2:1"]),
            place("chief", chief=["h0:1"], worker=["h1:1"], ps=["h2:1"]),
            r'needs no parameter servers, and TF_CONFIG has 1 ps\. Each process has all variables: leave "ps" out',
        ),
    ],
)
def test_a_strategy_for_another_cluster(tmp_path: Path, made_in: Any, used_in: Any, text: str) -> None:
    made = under_strategy(tmp_path, made_in, used_in)
    with pytest.raises(UsageError, match=f"train: CollectiveAllReduceStrategy.* {text}"):
        made.train(own_part, steps=1)
