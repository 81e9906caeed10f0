"""`TF_CONFIG` read: who this task is, and what is wrong with a bad one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lightwell.errors import UsageError, WrongType
from lightwell.run.cluster import ClusterInfo, parse_cluster, read_cluster

CLUSTER = {"chief": ["h0:1"], "worker": ["h1:1", "h2:1"], "ps": ["h3:1", "h4:1"]}


def of(task_type: str, index: Any, cluster: Any = None, **more: Any) -> ClusterInfo:
    settings = {"cluster": cluster or CLUSTER, "task": {"type": task_type, "index": index}, **more}
    return parse_cluster(json.dumps(settings))


def test_without_the_variable_the_job_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    alone = read_cluster()
    assert alone.is_chief
    assert (alone.task_type, alone.task_id, alone.master) == ("worker", 0, "")
    assert (alone.num_ps_replicas, alone.num_worker_replicas, alone.global_id_in_cluster) == (0, 1, 0)
    assert alone.spec.jobs == []


def test_the_variable_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"service": {"a": 1}, "model_dir": "/m", "session_master": "grpc://x"}))
    found = read_cluster()
    assert (found.service, found.model_dir, found.master) == ({"a": 1}, "/m", "grpc://x")


@pytest.mark.parametrize(
    ("task", "is_chief", "master", "number"),
    [
        (("chief", 0), True, "grpc://h0:1", 0),
        (("worker", 1), False, "grpc://h2:1", 2),
        (("ps", 0), False, "grpc://h3:1", 3),
        (("ps", "1"), False, "grpc://h4:1", 4),
    ],
)
def test_the_place_in_a_cluster(task: tuple[str, Any], is_chief: bool, master: str, number: int) -> None:
    found = of(*task)
    assert (found.task_type, found.task_id) == (task[0], int(task[1]))
    assert (found.is_chief, found.master, found.global_id_in_cluster) == (is_chief, master, number)
    assert (found.num_ps_replicas, found.num_worker_replicas) == (2, 3)
    assert found.spec.num_tasks("worker") == 2


def test_the_old_name_of_a_chief() -> None:
    found = of("master", 0, {"master": ["h0:1"], "worker": ["h1:1"]})
    assert found.is_chief
    assert found.num_worker_replicas == 2


def test_jobs_of_the_programs_own_count_by_name() -> None:
    cluster = {**CLUSTER, "boss": ["b:1", "b:2"], "zeta": ["z:1"]}
    found = [of(kind, 0, cluster) for kind in ("chief", "boss", "worker", "zeta", "ps")]
    assert [info.global_id_in_cluster for info in found] == [0, 1, 3, 5, 6]
    assert (found[1].is_chief, found[1].master) == (False, "grpc://b:1")


def test_an_evaluator_stands_apart() -> None:
    found = of("evaluator", 0)
    assert not found.is_chief
    assert found.spec.jobs == []
    assert (found.num_worker_replicas, found.num_ps_replicas, found.global_id_in_cluster) == (0, 0, None)


def test_a_cluster_of_one_needs_no_server() -> None:
    assert of("chief", 0, {"chief": ["h0:1"]}).master == ""


def test_a_platform_may_name_the_master() -> None:
    assert of("worker", 0, session_master="grpc://other").master == "grpc://other"


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ("{", UsageError, "TF_CONFIG is not valid JSON: .* It holds: '{'"),
        ("[1]", WrongType, r"TF_CONFIG must be a JSON object, got '\[1\]'"),
        ({"service": 1}, WrongType, 'If "service" is set in TF_CONFIG, it must be a dict. Given .*: 1'),
        (
            {"cluster": ["a"]},
            WrongType,
            r"`cluster` must be a dictionary mapping one or more job names to lists of network addresses, got \['a'\]",
        ),
        ({"task": "chief"}, WrongType, "\"task\" must be a dict with type and index, got 'chief'"),
        ({"model_dir": ""}, UsageError, "model_dir in TF_CONFIG should be non-empty; leave it out"),
        (
            {"task": {"type": "ps"}},
            UsageError,
            'If "cluster" is not set in TF_CONFIG, task type must be WORKER: .*"worker".* got \'ps\'. Leave it out',
        ),
        (
            {"task": {"index": 1}},
            UsageError,
            'If "cluster" is not set in TF_CONFIG, task index must be 0, got 1. Leave it out',
        ),
        ({"task": {"index": "x"}}, UsageError, "the task index must be a whole number, got 'x'"),
        ({"cluster": CLUSTER}, UsageError, 'If "cluster" is set in TF_CONFIG, task type must be set: {"task"'),
        ({"cluster": CLUSTER, "task": {"type": "ps"}}, UsageError, "task index must be set"),
        ({"cluster": CLUSTER, "task": {"type": "ps", "index": "x"}}, UsageError, "whole number, got 'x'"),
        ({"cluster": CLUSTER, "task": {"type": "ps", "index": -1}}, UsageError, "must be non-negative number, got -1"),
        (
            {"cluster": CLUSTER, "task": {"type": "boss", "index": 0}},
            UsageError,
            r"boss is not a valid task_type in the cluster_spec: .* Use one of \['chief', 'ps', 'worker'\]; 'eval",
        ),
        (
            {"cluster": CLUSTER, "task": {"type": "worker", "index": 2}},
            UsageError,
            r"2 is not a valid task_id for task_type worker in the cluster_spec: .* It has 2 such task\(s\)",
        ),
        (
            {"cluster": {"master": ["a:1"]}, "task": {"type": "evaluator", "index": 0}},
            UsageError,
            r'If `master` node exists in `cluster`, task_type `evaluator` is not supported\. Call that node "chief"',
        ),
        (
            {"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}},
            UsageError,
            r'must have one "chief" node; the cluster has \[\'worker\'\]',
        ),
        (
            {"cluster": {"chief": ["a:1", "b:1"]}, "task": {"type": "chief", "index": 0}},
            UsageError,
            r'must have only one "chief" node, got \[\'a:1\', \'b:1\'\]',
        ),
    ],
)
def test_refusals_say_what_is_wrong(settings: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        parse_cluster(settings if isinstance(settings, str) else json.dumps(settings))


@pytest.mark.parametrize(
    ("kind", "index", "jobs", "expected"),
    [
        ("worker", 0, {"worker": ["h0:1", "h1:1"]}, (True, 2, 0)),
        ("worker", 1, {"worker": ["h0:1", "h1:1"]}, (False, 2, 1)),
        ("worker", 0, {"chief": ["h0:1"], "worker": ["h1:1"]}, (False, 2, 1)),
        ("worker", 0, {"worker": ["h0:1"]}, (True, 1, 0)),
        ("evaluator", 0, {"evaluator": ["h0:1"]}, (False, 0, None)),
    ],
)
def test_where_all_take_steps_together_the_first_worker_may_be_the_chief(
    kind: str, index: int, jobs: dict[str, list[str]], expected: tuple[bool, int, int | None]
) -> None:
    place = parse_cluster(json.dumps({"cluster": jobs, "task": {"type": kind, "index": index}}), synchronized=True)
    assert (place.is_chief, place.num_worker_replicas, place.global_id_in_cluster) == expected
    assert place.master == ("" if kind == "evaluator" else f"grpc://{jobs[kind][index]}")
