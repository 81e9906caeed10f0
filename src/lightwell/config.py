"""`RunConfig`: how a model is run, as an immutable value.

Owns the settings, their defaults and their checks. Takes what the user sets and, once, the `ClusterInfo` that
`cluster` reads from the environment. Starts nothing.
"""

from __future__ import annotations

import copy
import numbers
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import tensorflow as tf

from lightwell.callables import arguments_of
from lightwell.cluster import CHIEF, MASTER, PS, WORKER, ClusterInfo, read_cluster
from lightwell.errors import UsageError


class _Unset:
    def __repr__(self) -> str:
        return "<unset>"


_UNSET: Any = _Unset()
_DEFAULT_SAVE_SECS = 600
_CADENCES = ("save_checkpoints_steps", "save_checkpoints_secs")


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _takes_one_op(value: Any) -> bool:
    return callable(value) and arguments_of(value).names == ("op",)


# Setting -> (test, what is expected). A setting that is None is not checked.
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "model_dir": (lambda v: str(v) != "", "model_dir should be non-empty"),
    "tf_random_seed": (_is_whole, "tf_random_seed must be integer"),
    "save_summary_steps": (lambda v: _is_number(v) and v >= 0, "save_summary_steps should be >= 0"),
    "save_checkpoints_steps": (lambda v: _is_number(v) and v >= 0, "save_checkpoints_steps should be >= 0"),
    "save_checkpoints_secs": (lambda v: _is_number(v) and v >= 0, "save_checkpoints_secs should be >= 0"),
    "session_config": (
        lambda v: isinstance(v, tf.compat.v1.ConfigProto),
        "session_config must be instance of ConfigProto (tf.compat.v1.ConfigProto)",
    ),
    "keep_checkpoint_max": (lambda v: _is_number(v) and v >= 0, "keep_checkpoint_max should be >= 0"),
    "keep_checkpoint_every_n_hours": (
        lambda v: _is_number(v) and v > 0,
        "keep_checkpoint_every_n_hours should be > 0",
    ),
    "log_step_count_steps": (lambda v: _is_number(v) and v > 0, "log_step_count_steps should be > 0"),
    "device_fn": (_takes_one_op, 'device_fn must be callable with exactly one argument "op"'),
    "protocol": (lambda v: v in ("grpc", "grpc+verbs"), "protocol should be grpc or grpc+verbs"),
    "experimental_max_worker_delay_secs": (_is_whole, "experimental_max_worker_delay_secs must be an integer if set"),
    "session_creation_timeout_secs": (
        lambda v: _is_number(v) and v > 0,
        "session_creation_timeout_secs should be > 0",
    ),
    "fuse_steps": (
        lambda v: v is False or v == "auto" or (_is_whole(v) and v >= 1),
        'fuse_steps should be "auto", False or a number of steps >= 1',
    ),
    "pure_model_fn": (lambda v: isinstance(v, bool), "pure_model_fn should be True or False"),
}


@dataclass(frozen=True, eq=False)
class RunConfig:
    """How to run a model: directories, cadences, seeds, sessions and the place in a cluster.

    Args:
        model_dir: where checkpoints and events are kept; None leaves the choice to the Estimator.
        tf_random_seed: graph-level seed; with one, a run can be repeated exactly.
        save_summary_steps: steps between two writes of summaries; 0 or None for none.
        save_checkpoints_steps: steps between two checkpoints. Not together with `save_checkpoints_secs`.
        save_checkpoints_secs: seconds between two checkpoints; 600 when neither is set. Both None: no checkpoints.
        session_config: a `tf.compat.v1.ConfigProto` for the sessions.
        keep_checkpoint_max: how many recent checkpoints are kept; 0 or None for all.
        keep_checkpoint_every_n_hours: keeps one checkpoint for good each so many hours.
        log_step_count_steps: steps between two log lines of loss and steps per second; None for none.
        train_distribute: a `tf.distribute.Strategy` for training.
        device_fn: places each op: called with the op, returns a device string.
        protocol: the protocol between servers of a cluster, `grpc` when None.
        eval_distribute: a `tf.distribute.Strategy` for evaluation.
        experimental_distribute: settings for distributed training by a coordinator.
        experimental_max_worker_delay_secs: how long a worker waits at the most before it starts.
        session_creation_timeout_secs: how long a worker waits for its session.
        checkpoint_save_graph_def: whether graph and meta graph are written beside checkpoints.
        fuse_steps: how many training steps one call of the runtime may run, between the steps that hooks look at:
            "auto" for as many as take a fraction of a second, a number for at most so many, False for always one.
        pure_model_fn: whether you vouch that `model_fn` builds the same model whenever it is given the same arguments.
            Then `evaluate` and `predict` do not call it again while their input is built in the same way.

    Raises:
        UsageError: a setting is out of range; the text says which, what is expected and what came.
    """

    model_dir: Any = None
    tf_random_seed: int | None = None
    save_summary_steps: int | None = 100
    save_checkpoints_steps: int | None = _UNSET
    save_checkpoints_secs: float | None = _UNSET
    session_config: Any = None
    keep_checkpoint_max: int | None = 5
    keep_checkpoint_every_n_hours: float | None = 10000
    log_step_count_steps: int | None = 100
    train_distribute: Any = None
    device_fn: Callable[[Any], str] | None = None
    protocol: str | None = None
    eval_distribute: Any = None
    experimental_distribute: Any = None
    experimental_max_worker_delay_secs: int | None = None
    session_creation_timeout_secs: float | None = 7200
    checkpoint_save_graph_def: bool = True
    fuse_steps: Any = field(default="auto", kw_only=True)
    pure_model_fn: bool = field(default=False, kw_only=True)
    cluster: ClusterInfo = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._put("cluster", read_cluster())
        self._settle_save_cadence()
        self._settle_model_dir()
        if self.session_config is None and self.cluster.spec.jobs:
            self._put("session_config", cluster_session_config(self.cluster))
        self._check()

    def replace(self, **changes: Any) -> RunConfig:
        """A copy with the named settings changed.

        Setting one of `save_checkpoints_steps` and `save_checkpoints_secs` clears the other.

        Raises:
            UsageError: an unknown setting, or a value out of range.
        """
        known = [f.name for f in fields(RunConfig) if f.init]
        for name in changes:
            if name not in known:
                raise UsageError(f"Replacing {name} is not supported. Allowed properties are {known}.")
        for name, other in (_CADENCES, _CADENCES[::-1]):
            if changes.get(name) is not None and other not in changes:
                changes[other] = None
        new = copy.copy(self)
        for name, value in changes.items():
            new._put(name, value)
        new._settle_save_cadence()
        new._check()
        return new

    @property
    def cluster_spec(self) -> Any:
        """The addresses of all tasks, as a `tf.train.ClusterSpec`."""
        return self.cluster.spec

    @property
    def task_type(self) -> str:
        """This task's type: `chief`, `worker`, `ps` or `evaluator`."""
        return self.cluster.task_type

    @property
    def task_id(self) -> int:
        """This task's index among those of its type."""
        return self.cluster.task_id

    @property
    def is_chief(self) -> bool:
        """Whether this task writes checkpoints and summaries."""
        return self.cluster.is_chief

    @property
    def master(self) -> str:
        """The session target for training."""
        return self.cluster.master

    @property
    def evaluation_master(self) -> str:
        """The session target for evaluation and prediction."""
        return self.cluster.evaluation_master

    @property
    def num_ps_replicas(self) -> int:
        """How many parameter servers there are."""
        return self.cluster.num_ps_replicas

    @property
    def num_worker_replicas(self) -> int:
        """How many tasks train, the chief included."""
        return self.cluster.num_worker_replicas

    @property
    def global_id_in_cluster(self) -> int | None:
        """This task's number among all tasks; None for an evaluator."""
        return self.cluster.global_id_in_cluster

    @property
    def service(self) -> Any:
        """Free settings of the platform that started the job (`TF_CONFIG`'s `service`)."""
        return self.cluster.service

    def _put(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)  # the dataclass is frozen; only __post_init__ and replace() write

    def _settle_save_cadence(self) -> None:
        steps, secs = self.save_checkpoints_steps, self.save_checkpoints_secs
        if steps is _UNSET and secs is _UNSET:
            self._put("save_checkpoints_steps", None)
            self._put("save_checkpoints_secs", _DEFAULT_SAVE_SECS)
        elif steps is _UNSET:
            self._put("save_checkpoints_steps", None)
        elif secs is _UNSET:
            self._put("save_checkpoints_secs", None)
        elif steps is not None and secs is not None:
            raise UsageError(
                "RunConfig: `save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set; "
                f"got {steps!r} and {secs!r}."
            )

    def _settle_model_dir(self) -> None:
        given_by_platform = self.cluster.model_dir
        if self.model_dir is None:
            self._put("model_dir", given_by_platform)
        elif given_by_platform is not None and str(self.model_dir) != given_by_platform:
            raise UsageError(
                "RunConfig: `model_dir`, if set, must have the same value as the model_dir in TF_CONFIG; "
                f"got {str(self.model_dir)!r} here and {given_by_platform!r} in TF_CONFIG."
            )

    def _check(self) -> None:
        for name, (is_fine, expected) in _RULES.items():
            value = getattr(self, name)
            if value is not None and not is_fine(value):
                raise UsageError(f"RunConfig: {expected}, got {value!r}.")


def default_session_config() -> Any:
    """The session settings used when the user gives none."""
    config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    # One pass of the graph optimizer: the second one costs start-up time and rarely finds anything.
    config.graph_options.rewrite_options.meta_optimizer_iterations = 1
    return config


def cluster_session_config(cluster: ClusterInfo) -> Any:
    """Session settings for a task of a cluster: it sees the parameter servers and itself, not the other workers."""
    config = default_session_config()
    if cluster.task_type in (CHIEF, MASTER):
        config.device_filters.extend([f"/job:{PS}", f"/job:{cluster.task_type}"])
    elif cluster.task_type == WORKER:
        config.device_filters.extend([f"/job:{PS}", f"/job:{WORKER}/task:{cluster.task_id}"])
    else:
        config.device_filters.extend(f"/job:{job}" for job in (PS, WORKER, CHIEF, MASTER))
    return config
