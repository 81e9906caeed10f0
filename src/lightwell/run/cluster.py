"""The place of this process in a cluster: the only reader of the `TF_CONFIG` environment variable.

Takes the variable's text, returns a frozen `ClusterInfo`. Opens no connection and starts no server.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongKind, WrongType

CHIEF, MASTER, WORKER, PS, EVALUATOR = "chief", "master", "worker", "ps", "evaluator"
_TF_CONFIG = "TF_CONFIG"

# Errors of a step when another process of the cluster is gone: its session is lost, a new one may work.
LOST_SESSION = (tf.errors.AbortedError, tf.errors.UnavailableError)


@dataclass(frozen=True)
class ClusterInfo:
    """One task's place in a cluster; the defaults are a job on a single machine.

    Attributes:
        spec: all tasks' addresses, empty on a single machine and for an evaluator, which is no member.
        task_type: `chief`, `worker`, `ps`, `evaluator`, the old name `master` for a chief, or a job that only the
            program knows.
        task_id: index among the tasks of that type.
        is_chief: whether this task writes checkpoints and summaries.
        master: the session target for training, empty for in-process.
        evaluation_master: the session target for evaluation and prediction.
        num_ps_replicas: how many parameter servers there are.
        num_worker_replicas: how many tasks train, the chief included.
        global_id_in_cluster: number among all tasks: the chief, then workers and other jobs by name, then parameter
            servers; None for an evaluator.
        service: free settings of the platform that started the job.
        model_dir: the directory that the platform chose, if any.
    """

    spec: Any = field(default_factory=lambda: tf.train.ClusterSpec({}))
    task_type: str = WORKER
    task_id: int = 0
    is_chief: bool = True
    master: str = ""
    evaluation_master: str = ""
    num_ps_replicas: int = 0
    num_worker_replicas: int = 1
    global_id_in_cluster: int | None = 0
    service: Mapping[str, Any] | None = None
    model_dir: str | None = None


def is_synchronized(strategy: Any) -> bool:
    """Whether a strategy is one whose processes take every step together, without parameter servers."""
    distribute = tf.distribute
    kinds = (
        distribute.MultiWorkerMirroredStrategy,
        distribute.experimental.MultiWorkerMirroredStrategy,
        tf.compat.v1.distribute.experimental.MultiWorkerMirroredStrategy,
    )
    return isinstance(strategy, kinds)


def read_cluster(synchronized: bool = False) -> ClusterInfo:
    """Reads `TF_CONFIG` from the environment; without it, the job runs on a single machine.

    Args:
        synchronized: whether its processes take every step together: then the first worker may be the chief.
    """
    return parse_cluster(os.environ.get(_TF_CONFIG, ""), synchronized)


def parse_cluster(text: str, synchronized: bool = False) -> ClusterInfo:
    """Reads the text of a `TF_CONFIG`; `synchronized` as in `read_cluster`.

    Raises:
        UsageError: the text is no JSON, or describes no usable cluster.
        WrongType: a part has the wrong type.
    """
    settings = _parsed(text)
    service = settings.get("service")
    if service is not None and not isinstance(service, Mapping):
        raise WrongType(f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(service)}: {service!r}.')
    model_dir = settings.get("model_dir")
    if model_dir == "":
        raise UsageError("model_dir in TF_CONFIG should be non-empty; leave it out to choose the directory yourself.")
    jobs = settings.get("cluster") or {}
    if not isinstance(settings.get("cluster", {}), Mapping):
        raise WrongType(
            "TF_CONFIG: `cluster` must be a dictionary mapping one or more job names to lists of network addresses, "
            f"got {settings['cluster']!r}."
        )
    for job, addresses in jobs.items():
        if not isinstance(addresses, list | Mapping):
            raise WrongType(
                f"TF_CONFIG: The tasks for job {job!r} must be a list or a dictionary from integers to strings, got "
                f"{addresses!r}."
            )
    if not jobs:
        return _single_machine(settings, service, model_dir)
    return _in_cluster(settings, jobs, service, model_dir, synchronized)


def _parsed(text: str) -> Mapping[str, Any]:
    if not text:
        return {}
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise UsageError(f"TF_CONFIG is not valid JSON: {error}. It holds: {text!r}") from error
    if not isinstance(settings, Mapping):
        raise WrongKind(f"TF_CONFIG must be a JSON object, got {text!r}.")
    return settings


def _single_machine(settings: Mapping[str, Any], service: Any, model_dir: str | None) -> ClusterInfo:
    task = _task_settings(settings)
    if task.get("type", WORKER) != WORKER:
        raise UsageError(
            'If "cluster" is not set in TF_CONFIG, task type must be WORKER: it must be "worker" or left out, got '
            f'{task["type"]!r}. Leave it out, or name all tasks of the job under "cluster".'
        )
    if _whole(task.get("index", 0)) != 0:
        raise UsageError(
            f'If "cluster" is not set in TF_CONFIG, task index must be 0, got {task["index"]}. Leave it out, or name '
            'all tasks of the job under "cluster".'
        )
    return ClusterInfo(
        master=settings.get("session_master", ""),
        evaluation_master=settings.get("eval_session_master", ""),
        service=service,
        model_dir=model_dir,
    )


def _in_cluster(
    settings: Mapping[str, Any], jobs: Mapping[str, Any], service: Any, model_dir: str | None, synchronized: bool
) -> ClusterInfo:
    task_type, task_id = _task(settings)
    jobs = {job: addresses for job, addresses in jobs.items() if addresses}
    is_separate = synchronized and task_type == EVALUATOR and not {CHIEF, MASTER} & set(jobs)
    chief = CHIEF if is_separate else _chief_job(jobs, synchronized)
    if task_type == EVALUATOR:
        if chief == MASTER:
            raise UsageError(
                f"TF_CONFIG: If `{MASTER}` node exists in `cluster`, task_type `{EVALUATOR}` is not supported. Call "
                f'that node "{CHIEF}", as "{MASTER}" is called today.'
            )
        # An evaluator is no member: it reads checkpoints from model_dir on its own.
        return ClusterInfo(
            task_type=EVALUATOR,
            task_id=task_id,
            is_chief=False,
            evaluation_master=settings.get("eval_session_master", ""),
            num_worker_replicas=0,
            global_id_in_cluster=None,
            service=service,
            model_dir=model_dir,
        )
    spec = tf.train.ClusterSpec(dict(jobs))
    if task_type not in spec.jobs:
        raise UsageError(
            f"TF_CONFIG: {task_type} is not a valid task_type in the cluster_spec: {dict(jobs)}. Use one of "
            f"{sorted(spec.jobs)}; {EVALUATOR!r} is always allowed."
        )
    if task_id not in spec.task_indices(task_type):
        raise UsageError(
            f"TF_CONFIG: {task_id} is not a valid task_id for task_type {task_type} in the cluster_spec: {dict(jobs)}. "
            f"It has {spec.num_tasks(task_type)} such task(s), which are counted from 0."
        )
    alone = sum(spec.num_tasks(job) for job in spec.jobs) == 1 and not synchronized
    address = "" if alone else f"grpc://{spec.task_address(task_type, task_id)}"
    order = [chief, *sorted(set(spec.jobs) - {chief, PS}), PS]
    before = sum(spec.num_tasks(job) for job in order[: order.index(task_type)])
    return ClusterInfo(
        spec=spec,
        task_type=task_type,
        task_id=task_id,
        is_chief=task_type == chief and task_id == 0,
        master=settings.get("session_master", address),
        num_ps_replicas=len(jobs.get(PS, ())),
        num_worker_replicas=len(jobs.get(WORKER, ())) + (chief != WORKER),
        global_id_in_cluster=before + task_id,
        service=service,
        model_dir=model_dir,
    )


def _task(settings: Mapping[str, Any]) -> tuple[str, int]:
    task = _task_settings(settings)
    if not task.get("type"):
        raise UsageError('If "cluster" is set in TF_CONFIG, task type must be set: {"task": {"type": …, "index": …}}.')
    if task.get("index") is None:
        raise UsageError('If "cluster" is set in TF_CONFIG, task index must be set: {"task": {"type": …, "index": …}}.')
    index = _whole(task["index"])
    if index < 0:
        raise UsageError(f"TF_CONFIG: Task index must be non-negative number, got {index}.")
    return str(task["type"]), index


def _task_settings(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    task = settings.get("task") or {}
    if not isinstance(task, Mapping):
        raise WrongKind(f'TF_CONFIG: "task" must be a dict with type and index, got {task!r}.')
    return task


def _whole(index: Any) -> int:
    try:
        return int(index)
    except TypeError:
        raise WrongType(f"TF_CONFIG: the task index must be a whole number, got {index!r}.") from None
    except ValueError:
        raise UsageError(f"TF_CONFIG: the task index must be a whole number, got {index!r}.") from None


def _chief_job(jobs: Mapping[str, Any], synchronized: bool) -> str:
    if CHIEF in jobs and MASTER in jobs:
        raise UsageError(
            f"TF_CONFIG: If `{MASTER}` node exists in `cluster`, job `{CHIEF}` is not supported: `{MASTER}` is the old "
            f"name of the same task. The cluster has {sorted(jobs)}; leave one of the two out."
        )
    chief = CHIEF if CHIEF in jobs else MASTER
    if chief not in jobs and synchronized and WORKER in jobs:
        return WORKER
    if chief not in jobs:
        raise UsageError(
            f'If "cluster" is set in TF_CONFIG, it must have one "chief" node; the cluster has {sorted(jobs)}.'
        )
    if len(jobs[chief]) != 1:
        raise UsageError(f'The "cluster" in TF_CONFIG must have only one "{chief}" node, got {jobs[chief]!r}.')
    return chief
