"""Every setting of a RunConfig and every part of TF_CONFIG with what it cannot be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import tensorflow as tf
from tests.parity.mistakes.base import Mistake
from tests.parity.run_configs import environment

v1 = tf.compat.v1
MISTAKES: dict[str, Mistake] = {}
_NUMBERS = {"0": 0, "-1": -1, "0.5": 0.5, "text": "a", "None": None, "a list": [1]}
SETTINGS: dict[str, dict[str, Any]] = {
    "model_dir": {"a number": 1, "empty": "", "bytes": b"a", "a list": ["a"]},
    "tf_random_seed": _NUMBERS,
    "save_summary_steps": _NUMBERS,
    "save_checkpoints_steps": _NUMBERS,
    "save_checkpoints_secs": _NUMBERS,
    "keep_checkpoint_max": _NUMBERS,
    "keep_checkpoint_every_n_hours": _NUMBERS,
    "log_step_count_steps": _NUMBERS,
    "experimental_max_worker_delay_secs": _NUMBERS,
    "session_creation_timeout_secs": _NUMBERS,
    "session_config": {"a number": 1, "a dict": {}, "the class": v1.ConfigProto},
    "device_fn": {
        "a number": 1,
        "text": "/cpu:0",
        "without arguments": lambda: None,
        "with another argument": lambda other: None,
        "with two arguments": lambda op, other: None,
    },
    "protocol": {"a number": 1, "unknown": "smoke"},
    "train_distribute": {"a number": 1, "text": "mirrored"},
    "eval_distribute": {"a number": 1, "text": "mirrored"},
    "experimental_distribute": {"a number": 1, "text": "mirrored"},
    "checkpoint_save_graph_def": {"text": "a", "None": None},
}


def _made(setting: str, value: Any) -> Mistake:
    return lambda lib, model_dir: lib.RunConfig(**{setting: value})


def _replaced(setting: str, value: Any) -> Mistake:
    return lambda lib, model_dir: lib.RunConfig().replace(**{setting: value})


for _setting, _values in SETTINGS.items():
    for _what, _value in _values.items():
        MISTAKES[f"config: {_setting} is {_what}"] = _made(_setting, _value)
        MISTAKES[f"config: replace, {_setting} is {_what}"] = _replaced(_setting, _value)

MISTAKES |= {
    f"config: replace of {name}": _replaced(name, "a")
    for name in ("task_type", "task_id", "master", "is_chief", "cluster_spec", "service", "num_ps_replicas", "other")
}
MISTAKES |= {
    "config: an unknown setting": _made("other", 1),
    "config: save_checkpoints_steps and _secs": lambda lib, model_dir: lib.RunConfig(
        save_checkpoints_steps=1, save_checkpoints_secs=1
    ),
    "config: replace of save_checkpoints_steps and _secs": lambda lib, model_dir: lib.RunConfig().replace(
        save_checkpoints_steps=1, save_checkpoints_secs=1
    ),
    "config: assigning a setting": lambda lib, model_dir: setattr(lib.RunConfig(), "model_dir", "a"),
}

_CLUSTER: dict[str, Any] = {"chief": ["h:1"], "worker": ["h:2", "h:3"], "ps": ["h:4"]}
_CHIEF = {"type": "chief", "index": 0}


def _with(task: Any = _CHIEF, cluster: Any = _CLUSTER, **more: Any) -> dict[str, Any]:
    parts = {"cluster": cluster, "task": task, **more}
    return {name: part for name, part in parts.items() if part is not None}


def _without(*jobs: str) -> dict[str, Any]:
    return {job: hosts for job, hosts in _CLUSTER.items() if job not in jobs}


TF_CONFIGS: dict[str, Any] = {
    "a list": [],
    "text": "a",
    "a number": 1,
    "cluster is text": _with(cluster="a"),
    "cluster is a list": _with(cluster=["h:1"]),
    "cluster is empty, task is a worker": _with({"type": "worker", "index": 0}, {}),
    "cluster is empty, task is a ps": _with({"type": "ps", "index": 0}, {}),
    "cluster is empty, index 1": _with({"type": "worker", "index": 1}, {}),
    "cluster is empty, task is unknown": _with({"type": "other", "index": 0}, {}),
    "cluster is empty, task is a chief": _with(_CHIEF, {}),
    "cluster is empty, task is an evaluator": _with({"type": "evaluator", "index": 0}, {}),
    "cluster is empty, task is empty": _with({}, {}),
    "no cluster, a worker": _with({"type": "worker", "index": 0}, None),
    "no cluster, an index alone": _with({"index": 1}, None),
    "no chief": _with({"type": "worker", "index": 0}, _without("chief")),
    "two chiefs": _with(cluster={**_CLUSTER, "chief": ["h:1", "h:5"]}),
    "no host for the chief": _with(cluster={**_CLUSTER, "chief": []}),
    "chief is None": _with(cluster={**_CLUSTER, "chief": None}),
    "chief is text": _with(cluster={**_CLUSTER, "chief": "h:1"}),
    "chief and master": _with(cluster={**_CLUSTER, "master": ["h:6"]}),
    "an evaluator in the cluster": _with(cluster={**_CLUSTER, "evaluator": ["h:6"]}),
    "two masters": _with({"type": "master", "index": 0}, {"master": ["h:1", "h:2"]}),
    "a master, task is a chief": _with(_CHIEF, {"master": ["h:1"], "worker": ["h:2"]}),
    "no host for the workers": _with(cluster={**_CLUSTER, "worker": []}),
    "no ps, task is a ps": _with({"type": "ps", "index": 0}, _without("ps")),
    "no task": _with(None),
    "task is empty": _with({}),
    "task is text": _with("a"),
    "task is a list": _with([1]),
    "task without a type": _with({"index": 0}),
    "task without an index": _with({"type": "worker"}),
    "task of an unknown type": _with({"type": "other", "index": 0}),
    "task type is a number": _with({"type": 1, "index": 0}),
    "task type is empty": _with({"type": "", "index": 0}),
    "index -1": _with({"type": "worker", "index": -1}),
    "index 2 of 2": _with({"type": "worker", "index": 2}),
    "index 1 of a chief": _with({"type": "chief", "index": 1}),
    "index -1 of a chief": _with({"type": "chief", "index": -1}),
    "index 1 of a ps": _with({"type": "ps", "index": 1}),
    "index is text": _with({"type": "worker", "index": "a"}),
    "index is a number as text": _with({"type": "worker", "index": "1"}),
    "index is 0.5": _with({"type": "worker", "index": 0.5}),
    "index is None": _with({"type": "worker", "index": None}),
    "index is a list": _with({"type": "worker", "index": [0]}),
    "index -1 of an evaluator": _with({"type": "evaluator", "index": -1}),
    "index 1 of an evaluator": _with({"type": "evaluator", "index": 1}),
    "session_master without a cluster": {"session_master": 1},
    "eval_session_master without a cluster": {"eval_session_master": 1},
    "session_master is empty, in a cluster": _with(session_master=""),
    "session_master and eval_session_master in a cluster": _with(session_master="a", eval_session_master="b"),
    "rpc_layer is a number": _with(rpc_layer=1),
    "rpc_layer is empty": _with(rpc_layer=""),
    "service is text": _with(service="a"),
    "model_dir is empty": {"model_dir": ""},
    "model_dir is a number": {"model_dir": 1},
    "an unknown key": {"other": 1},
}


def _under(tf_config: Any, **settings: Any) -> Mistake:
    def run(lib: Any, model_dir: Path) -> None:
        with environment(tf_config):
            lib.RunConfig(**settings)

    return run


MISTAKES |= {f"TF_CONFIG: {what}": _under(tf_config) for what, tf_config in TF_CONFIGS.items()}
MISTAKES |= {
    "TF_CONFIG: another model_dir": _under({"model_dir": "a"}, model_dir="b"),
    "TF_CONFIG: the same model_dir": _under({"model_dir": "a"}, model_dir="a"),
}


def _not_json(lib: Any, model_dir: Path) -> None:
    with environment({}):
        os.environ["TF_CONFIG"] = "{"
        lib.RunConfig()


def _construct(tf_config: Any, **arguments: Any) -> Mistake:
    def run(lib: Any, model_dir: Path) -> None:
        with environment(tf_config):
            lib.Estimator(lambda features: None, **arguments)

    return run


MISTAKES |= {
    "TF_CONFIG: no JSON": _not_json,
    "TF_CONFIG: another model_dir than the Estimator's": _construct({"model_dir": "a"}, model_dir="b"),
    "TF_CONFIG: an Estimator under a bad one": _construct(_with({"type": "worker", "index": 9})),
}
