"""`RunConfig` under settings and `TF_CONFIG`s: the cases, and how their outcome is written as plain values.

The same code makes the recording (with `tf.estimator.RunConfig`) and the comparison (with `lightwell.RunConfig`).
"""

from __future__ import annotations

import copy
import json
import os
import pickle
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
_OWN_JOBS = {**_CLUSTER, "boss": ["b0:1", "b1:1"], "zeta": ["z0:1"]}


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
    "a job of one's own": _task("boss", 1, _OWN_JOBS),
    "worker beside a job of one's own": _task("worker", 0, _OWN_JOBS),
    "server beside jobs of one's own": _task("ps", 0, _OWN_JOBS),
    "job that sorts last": _task("zeta", 0, _OWN_JOBS),
    "job of one's own alone": _task("boss", 0, {"boss": ["b:1"]}),
    "worker beside an evaluator": _task("worker", 0, {**_CLUSTER, "evaluator": ["e:1"]}),
    "evaluator beside a master": _task("evaluator", 0, _OLD_CLUSTER),
    "evaluator without a chief": _task("evaluator", 0, {"worker": ["w0:1"]}),
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


def _with_own(lib: Any) -> Any:
    config = lib.RunConfig(tf_random_seed=1)
    config.my_setting = [7]
    return config


def _set(config: Any, **attributes: Any) -> Any:
    for name, value in attributes.items():
        setattr(config, name, value)
    return config


def _derived(lib: Any, **members: Any) -> Any:
    return type("Own", (lib.RunConfig,), members)


def _estimator(lib: Any, config: Any) -> Any:
    return lib.Estimator(lambda features: None, config=config)


# What a program may do with a config beyond its settings; each gives plain values.
OPEN: dict[str, _Make] = {
    "an own attribute survives replace": lambda lib: _with_own(lib).replace(model_dir="m").my_setting,
    "an own attribute survives copy": lambda lib: copy.copy(_with_own(lib)).my_setting,
    "an own attribute survives deepcopy": lambda lib: copy.deepcopy(_with_own(lib)).my_setting,
    "an own attribute survives pickle": lambda lib: pickle.loads(pickle.dumps(_with_own(lib))).my_setting,
    "an own attribute reaches the Estimator": lambda lib: _estimator(lib, _with_own(lib)).config.my_setting,
    "replace shares no own attribute": lambda lib: (
        (config := _with_own(lib)).replace().my_setting.append(8),
        config.my_setting,
    )[1],
    "a session_config is copied by replace": lambda lib: (
        (config := lib.RunConfig(session_config=tf.compat.v1.ConfigProto())).replace().session_config
        is config.session_config
    ),
    "an Estimator gives out copies": lambda lib: (
        (made := _estimator(lib, _with_own(lib))).config.my_setting.append(8),
        made.config.my_setting,
    )[1],
    "an own attribute can be deleted": lambda lib: (
        (config := _with_own(lib)).__delattr__("my_setting"),
        hasattr(config, "my_setting"),
    )[1],
    "private fields": lambda lib: sorted(
        name
        for name in vars(lib.RunConfig())
        if name not in ("_fuse_steps", "_gpu_memory", "_jit_compile", "_pure_model_fn", "_keep_sessions")
    ),
    "a private field is the setting": lambda lib: (
        (_set(lib.RunConfig(), _save_checkpoints_secs=None, _save_checkpoints_steps=100, _model_dir="m"))
        .replace(tf_random_seed=3)
        ._save_checkpoints_steps
    ),
    "private fields reach the Estimator": lambda lib: (
        _estimator(lib, _set(lib.RunConfig(), _model_dir="m", _save_summary_steps=3)).config.save_summary_steps
    ),
    "a bad private field is found by replace": lambda lib: _set(lib.RunConfig(), _save_summary_steps=-1).replace(),
    "both cadences as private fields": lambda lib: [
        (config := _set(lib.RunConfig(), _save_checkpoints_steps=3).replace(tf_random_seed=1)).save_checkpoints_steps,
        config.save_checkpoints_secs,
    ],
    "the place in a cluster as private fields": lambda lib: [
        (config := _set(lib.RunConfig(), _is_chief=False, _task_id=4, _num_worker_replicas=9)).is_chief,
        config.task_id,
        config.replace().num_worker_replicas,
    ],
    "a property overrides a setting": lambda lib: [
        (config := _derived(lib, tf_random_seed=property(lambda self: 77))(model_dir="m")).tf_random_seed,
        config.replace(tf_random_seed=5).tf_random_seed,
        config.replace(tf_random_seed=5)._tf_random_seed,
        _estimator(lib, config).config.tf_random_seed,
    ],
    "a property overrides model_dir": lambda lib: [
        (made := _estimator(lib, _derived(lib, model_dir=property(lambda self: "own"))())).model_dir,
        made.config.model_dir,
    ],
    "a class attribute overrides model_dir": lambda lib: _estimator(lib, _derived(lib, model_dir="own")()).model_dir,
    "a property overrides a place in the cluster": lambda lib: (
        _derived(lib, is_chief=property(lambda self: False))().replace().is_chief
    ),
    "a constructor of one's own": lambda lib: (
        _derived(lib, __init__=lambda self, tpu, **more: _set(self, tpu=tpu) and lib.RunConfig.__init__(self, **more))(
            8, tf_random_seed=3
        )
        .replace(model_dir="m")
        .tpu
    ),
    "a derived class stays itself": lambda lib: type(_derived(lib)().replace()).__name__,
    **{f"assigning {name}": lambda lib, name=name: _set(lib.RunConfig(), **{name: None}) for name in PROPERTIES},
    "deleting a setting": lambda lib: lib.RunConfig().__delattr__("model_dir"),
}


def open_outcomes(lib: Any) -> dict[str, Any]:
    """Every case of `OPEN`: what it gives, or the type of exception it raises."""
    found: dict[str, Any] = {}
    for name, make in OPEN.items():
        try:
            found[name] = {"gives": make(lib)}
        except Exception as error:
            builtin = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
            found[name] = {"raises": builtin.__name__}
    return found


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
