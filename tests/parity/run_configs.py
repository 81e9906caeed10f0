"""`RunConfig` under settings and `TF_CONFIG`s: the cases, and how their outcome is written as plain values.

The same code makes the recording (with `tf.estimator.RunConfig`) and the comparison (with `lightwell.RunConfig`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

PROPERTIES = (
    "cluster_spec",
    "device_fn",
    "eval_distribute",
    "evaluation_master",
    "experimental_max_worker_delay_secs",
    "global_id_in_cluster",
    "is_chief",
    "keep_checkpoint_every_n_hours",
    "keep_checkpoint_max",
    "log_step_count_steps",
    "master",
    "model_dir",
    "num_ps_replicas",
    "num_worker_replicas",
    "protocol",
    "save_checkpoints_secs",
    "save_checkpoints_steps",
    "save_summary_steps",
    "service",
    "session_config",
    "session_creation_timeout_secs",
    "task_id",
    "task_type",
    "tf_random_seed",
    "train_distribute",
    "checkpoint_save_graph_def",
)

_CLUSTER = {"chief": ["c0:1"], "worker": ["w0:1", "w1:1"], "ps": ["p0:1"]}
_OLD_CLUSTER = {"master": ["m0:1"], "worker": ["w0:1"], "ps": ["p0:1"]}


def _task(kind: Any, index: Any, cluster: Any = None, **more: Any) -> dict[str, Any]:
    return {"cluster": _CLUSTER if cluster is None else cluster, "task": {"type": kind, "index": index}, **more}


TF_CONFIGS: dict[str, Any] = {
    "empty": {},
    "chief": _task("chief", 0),
    "worker 0": _task("worker", 0),
    "worker 1": _task("worker", 1),
    "parameter server": _task("ps", 0),
    "evaluator": _task("evaluator", 0),
    "evaluator 1": _task("evaluator", 1),
    "evaluator in the cluster": _task("evaluator", 0, {**_CLUSTER, "evaluator": ["e:1"]}),
    "master": _task("master", 0, _OLD_CLUSTER),
    "worker beside a master": _task("worker", 0, _OLD_CLUSTER),
    "master and chief": _task("chief", 0, {"master": ["m:1"], "chief": ["c:1"]}),
    "master task in a cluster with a chief": _task("master", 0),
    "chief alone": _task("chief", 0, {"chief": ["c0:1"]}),
    "two chiefs": _task("chief", 0, {"chief": ["c0:1", "c1:1"]}),
    "workers without a chief": _task("worker", 0, {"worker": ["w0:1", "w1:1"]}),
    "servers and workers without a chief": _task("ps", 1, {"worker": ["a:1"], "ps": ["p:1", "q:1"]}),
    "no task": {"cluster": _CLUSTER},
    "no type": {"cluster": _CLUSTER, "task": {"index": 0}},
    "no index": {"cluster": _CLUSTER, "task": {"type": "worker"}},
    "index as text": _task("worker", "1"),
    "negative index": _task("worker", -1),
    "index too large": _task("worker", 5),
    "chief index 1": _task("chief", 1),
    "unknown type": _task("other", 0),
    "type that the cluster lacks": _task("worker", 0, {"chief": ["c0:1"]}),
    "no cluster, worker 0": {"task": {"type": "worker", "index": 0}},
    "no cluster, worker 1": {"task": {"type": "worker", "index": 1}},
    "no cluster, chief": {"task": {"type": "chief", "index": 0}},
    "no cluster, master": {"task": {"type": "master", "index": 0}},
    "no cluster, evaluator": {"task": {"type": "evaluator", "index": 0}},
    "session masters": {"session_master": "grpc://x", "eval_session_master": "grpc://y"},
    "session master alone": {"session_master": "grpc://x"},
    "session master in a cluster": _task("worker", 1, session_master="grpc://x"),
    "evaluation master in a cluster": _task("worker", 1, eval_session_master="grpc://y"),
    "evaluator with masters": _task("evaluator", 0, session_master="grpc://x", eval_session_master="grpc://y"),
    "service": {"service": {"a": 1}},
    "service in a cluster": _task("chief", 0, service={"a": 1}),
    "service that is no dict": {"service": 3},
    "model_dir": {"model_dir": "from/platform"},
    "empty model_dir": {"model_dir": ""},
    "cloud": {"environment": "cloud"},
    "empty cluster and task": {"cluster": {}, "task": {}},
    "cluster that is a list": {"cluster": [1], "task": {"type": "worker", "index": 0}},
    "addresses by index": _task("worker", 1, {"worker": {"0": "w0:1", "1": "w1:1"}, "chief": ["c:1"]}),
    "other rpc layer": _task("chief", 0, rpc_layer="grpc+x"),
    "trial": {"task": {"type": "worker", "index": 0, "trial": "3"}},
}

_NUMBERS = (-1, 0, 7, None, "a")
SETTINGS: dict[str, tuple[Any, ...]] = {
    "save_summary_steps": _NUMBERS,
    "save_checkpoints_steps": _NUMBERS,
    "save_checkpoints_secs": _NUMBERS,
    "keep_checkpoint_max": _NUMBERS,
    "keep_checkpoint_every_n_hours": (-1, 0, 0.5, None),
    "log_step_count_steps": (-1, 0, 7, None),
    "tf_random_seed": ("a", 1.5, -1, 42, None),
    "model_dir": ("", "somewhere", None),
    "session_config": (1,),
    "device_fn": (1, None),
    "protocol": ("x", "grpc", "grpc+verbs", None),
    "experimental_max_worker_delay_secs": (0, 3, None),
    "session_creation_timeout_secs": (-1, 0, 60, None),
    "checkpoint_save_graph_def": (True, False),
}

_Make = Callable[[Any], Any]
CALLS: dict[str, _Make] = {
    "steps and secs": lambda lib: lib.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1),
    "neither steps nor secs": lambda lib: lib.RunConfig(save_checkpoints_steps=None, save_checkpoints_secs=None),
    "device_fn of one op": lambda lib: lib.RunConfig(device_fn=lambda op: "").replace(device_fn=None),
    "device_fn of another argument": lambda lib: lib.RunConfig(device_fn=lambda node: ""),
    "device_fn of two": lambda lib: lib.RunConfig(device_fn=lambda op, more: ""),
    "replace steps": lambda lib: lib.RunConfig().replace(save_checkpoints_steps=7),
    "replace steps by secs": lambda lib: lib.RunConfig(save_checkpoints_steps=3).replace(save_checkpoints_secs=7),
    "replace secs by steps": lambda lib: lib.RunConfig(save_checkpoints_secs=3).replace(save_checkpoints_steps=7),
    "replace both": lambda lib: lib.RunConfig().replace(save_checkpoints_steps=1, save_checkpoints_secs=1),
    "replace both by None": lambda lib: lib.RunConfig().replace(
        save_checkpoints_steps=None, save_checkpoints_secs=None
    ),
    "replace steps by None": lambda lib: lib.RunConfig().replace(save_checkpoints_steps=None),
    "replace nothing": lambda lib: lib.RunConfig(tf_random_seed=3).replace(),
    "replace by a bad value": lambda lib: lib.RunConfig().replace(save_summary_steps=-1),
    "replace an unknown name": lambda lib: lib.RunConfig().replace(other=1),
    "set an attribute": lambda lib: setattr(lib.RunConfig(), "save_summary_steps", 3),
    **{
        f"replace {name}": lambda lib, name=name: lib.RunConfig().replace(**{name: getattr(lib.RunConfig(), name)})
        for name in PROPERTIES
        if not name.startswith("save_checkpoints")
    },
}


def plain(value: Any) -> Any:
    """A property's value as JSON can hold it."""
    if isinstance(value, tf.train.ClusterSpec):
        return value.as_dict()
    if isinstance(value, tf.compat.v1.ConfigProto):
        return " ".join(str(value).split())
    return value


def properties(config: Any) -> dict[str, Any]:
    """Every public property."""
    return {name: plain(getattr(config, name)) for name in PROPERTIES}


def outcome(make: Callable[[], Any]) -> dict[str, Any]:
    """`{"config": properties}` or `{"raises": name of the built-in exception}`."""
    try:
        made = make()
    except Exception as error:
        builtin = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
        return {"raises": builtin.__name__}
    return {"config": None if made is None else properties(made)}


@contextmanager
def environment(tf_config: Any) -> Iterator[None]:
    """`TF_CONFIG` set for the time of a block."""
    before = os.environ.get("TF_CONFIG")
    os.environ["TF_CONFIG"] = json.dumps(tf_config)
    try:
        yield
    finally:
        os.environ.pop("TF_CONFIG")
        if before is not None:
            os.environ["TF_CONFIG"] = before


def all_outcomes(lib: Any) -> dict[str, dict[str, Any]]:
    """Every case of this module, by name."""
    found = {"default": outcome(lib.RunConfig)}
    for name, values in SETTINGS.items():
        for value in values:
            found[f"{name}={value!r}"] = outcome(lambda name=name, value=value: lib.RunConfig(**{name: value}))
    for name, make in CALLS.items():
        found[name] = outcome(lambda make=make: make(lib))
    for name, tf_config in TF_CONFIGS.items():
        with environment(tf_config):
            found[f"TF_CONFIG {name}"] = outcome(lib.RunConfig)
    with environment({"model_dir": "from/platform"}):
        found["TF_CONFIG and setting agree on model_dir"] = outcome(lambda: lib.RunConfig(model_dir="from/platform"))
        found["TF_CONFIG and setting disagree on model_dir"] = outcome(lambda: lib.RunConfig(model_dir="other"))
    with environment(_task("worker", 1)):
        config = lib.RunConfig()
    found["replace keeps the place in the cluster"] = outcome(lambda: config.replace(model_dir="somewhere"))
    return found
