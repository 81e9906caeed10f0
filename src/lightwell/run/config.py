"""`RunConfig`: how a model is run, as a value that Lightwell never changes.

Owns the settings, their defaults and their checks. Takes the user's settings and, once, the `ClusterInfo` that
`cluster` reads from the environment. Starts nothing. Programs may add attributes of their own and derive from it: a
setting is a property over the attribute of the same name with an underscore, as in `tf.estimator`.
"""

from __future__ import annotations

import copy
import inspect
import numbers
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from lightwell.base.callables import arguments_of
from lightwell.errors import SettingIsFixed, UsageError, WrongKind
from lightwell.run.cluster import CHIEF, MASTER, PS, WORKER, ClusterInfo, is_synchronized, read_cluster

if TYPE_CHECKING:
    from typing_extensions import Self


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
    "jit_compile": (lambda v: isinstance(v, bool) or v == "auto", 'jit_compile should be True, False or "auto"'),
    "gpu_memory": (
        lambda v: v == "growth" or (_is_number(v) and 0 < v <= 1),
        'gpu_memory should be "growth" or the share of a GPU to take, more than 0 and at most 1',
    ),
    "keep_sessions": (lambda v: isinstance(v, bool), "keep_sessions should be True or False"),
    "pure_model_fn": (lambda v: isinstance(v, bool), "pure_model_fn should be True or False"),
}


def _setting(name: str, meaning: str = "") -> Any:
    """A property that reads the attribute of the same name with an underscore, and cannot be assigned."""
    return property(operator.attrgetter(f"_{name}"), doc=meaning or None)


class RunConfig:
    """How to run a model: directories, cadences, seeds, sessions and the place in a cluster.

    Args:
        model_dir: the directory of checkpoints and events; None leaves the choice to the Estimator.
        tf_random_seed: graph-level seed; with one, a run can be repeated exactly.
        save_summary_steps: steps between two writes of summaries; 0 or None for none.
        save_checkpoints_steps: steps between two checkpoints. Not together with `save_checkpoints_secs`.
        save_checkpoints_secs: seconds between two checkpoints; 600 when neither is set. Both None: no checkpoints.
        session_config: a `tf.compat.v1.ConfigProto` for the sessions.
        keep_checkpoint_max: how many recent checkpoints to keep; 0 or None for all.
        keep_checkpoint_every_n_hours: at this interval in hours, one checkpoint is never deleted.
        log_step_count_steps: steps between two log lines of loss and steps per second; None for none.
        train_distribute: a `tf.distribute.Strategy` for training.
        device_fn: places each op: called with the op, returns a device string.
        protocol: the protocol between servers of a cluster, `grpc` when None.
        eval_distribute: a `tf.distribute.Strategy` for evaluation.
        experimental_distribute: the two strategies in one value, a `tf.contrib.distribute.DistributeConfig`.
        experimental_max_worker_delay_secs: how long a worker waits at the most before it starts.
        session_creation_timeout_secs: how long a worker waits for its session.
        checkpoint_save_graph_def: whether graph and meta graph are written beside checkpoints.
        fuse_steps: how many training steps one call of the runtime may run, between the steps that hooks look at:
            "auto" for as many as take a fraction of a second, a number for at most that many, False for always one.
        jit_compile: whether the steps that hooks do not look at are compiled by XLA, many of them into one computation:
            True, False, or "auto" to try both ways, once that can pay, and keep the faster. None is "auto" where a GPU
            computes, unless TensorFlow's ops shall be deterministic, and False elsewhere. Results may differ in the
            last digits. Steps that cannot be compiled run as they do without it; the log says why. Compiled, an index
            out of range is no error; and with True, random ops draw other numbers, whatever the seed ("auto" leaves
            such steps alone).
        gpu_memory: how the memory of GPUs is taken: "growth" for as much as is needed, a share of it such as 0.5, None
            for all of it, or what `tf.config.experimental.set_memory_growth` says. The first use in a process decides.
        pure_model_fn: whether you vouch that `model_fn` always builds the same model from the same arguments.
            Then `evaluate` and `predict` do not call it again while their input is built in the same way.
        keep_sessions: whether `evaluate` and `predict` keep a session open for the next call, which uses it if its
            graph is the same, and all that the graph does is known to leave nothing behind. Results are the same.

    Raises:
        UsageError: a setting is out of range; the text says which, what is expected and what came.
    """

    model_dir: Any = _setting("model_dir")
    tf_random_seed: int | None = _setting("tf_random_seed")
    save_summary_steps: int | None = _setting("save_summary_steps")
    save_checkpoints_steps: int | None = _setting("save_checkpoints_steps")
    save_checkpoints_secs: float | None = _setting("save_checkpoints_secs")
    session_config: Any = _setting("session_config")
    keep_checkpoint_max: int | None = _setting("keep_checkpoint_max")
    keep_checkpoint_every_n_hours: float | None = _setting("keep_checkpoint_every_n_hours")
    log_step_count_steps: int | None = _setting("log_step_count_steps")
    train_distribute: Any = _setting("train_distribute")
    device_fn: Callable[[Any], str] | None = _setting("device_fn")
    protocol: str | None = _setting("protocol")
    eval_distribute: Any = _setting("eval_distribute")
    experimental_distribute: Any = _setting("experimental_distribute")
    experimental_max_worker_delay_secs: int | None = _setting("experimental_max_worker_delay_secs")
    session_creation_timeout_secs: float | None = _setting("session_creation_timeout_secs")
    checkpoint_save_graph_def: bool = _setting("checkpoint_save_graph_def")
    fuse_steps: Any = _setting("fuse_steps")
    jit_compile: Any = _setting("jit_compile")
    gpu_memory: Any = _setting("gpu_memory")
    pure_model_fn: bool = _setting("pure_model_fn")
    keep_sessions: bool = _setting("keep_sessions")

    cluster_spec: Any = _setting("cluster_spec", "The addresses of all tasks, as a `tf.train.ClusterSpec`.")
    task_type: str = _setting("task_type", "This task's type: `chief`, `worker`, `ps` or `evaluator`.")
    task_id: int = _setting("task_id", "This task's index among those of its type.")
    is_chief: bool = _setting("is_chief", "Whether this task writes checkpoints and summaries.")
    master: str = _setting("master", "The session target for training.")
    evaluation_master: str = _setting("evaluation_master", "The session target for evaluation and prediction.")
    num_ps_replicas: int = _setting("num_ps_replicas", "How many parameter servers there are.")
    num_worker_replicas: int = _setting("num_worker_replicas", "How many tasks train, the chief included.")
    global_id_in_cluster: int | None = _setting(
        "global_id_in_cluster", "This task's number among all tasks; None for an evaluator."
    )
    service: Any = _setting("service", "Free settings of the platform that started the job (`TF_CONFIG`'s `service`).")

    def __init__(
        self,
        model_dir: Any = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: int | None = _UNSET,
        save_checkpoints_secs: float | None = _UNSET,
        session_config: Any = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float | None = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: Any = None,
        device_fn: Callable[[Any], str] | None = None,
        protocol: str | None = None,
        eval_distribute: Any = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: float | None = 7200,
        checkpoint_save_graph_def: bool = True,
        *,
        fuse_steps: Any = "auto",
        jit_compile: Any = None,
        gpu_memory: Any = None,
        pure_model_fn: bool = False,
        keep_sessions: bool = True,
    ) -> None:
        settings = {name: value for name, value in locals().items() if name in _SETTINGS}
        settings |= _strategies(settings)
        cluster = read_cluster(synchronized=is_synchronized(settings["train_distribute"]))
        settings["model_dir"] = _agreed_model_dir(model_dir, cluster.model_dir)
        settings |= _cadence(save_checkpoints_steps, save_checkpoints_secs)
        if session_config is None:
            settings["session_config"] = cluster_session_config(cluster)
        self._put(settings)
        self._put({name: getattr(cluster, _IN_CLUSTER.get(name, name)) for name in _PLACE})

    def replace(self, **changes: Any) -> Self:
        """A copy with the named settings changed; attributes of your own are copied along.

        Setting one of `save_checkpoints_steps` and `save_checkpoints_secs` clears the other.

        Raises:
            UsageError: an unknown setting, or a value out of range.
        """
        for name in changes:
            if name not in _SETTINGS:
                raise UsageError(f"Replacing {name} is not supported. Allowed properties are {list(_SETTINGS)}.")
        for name, other in (_CADENCES, _CADENCES[::-1]):
            if changes.get(name) is not None:
                changes = {**changes, **_cadence(**{name: changes[name], other: changes.get(other)})}
        new = copy.deepcopy(self)
        if changes.get("experimental_distribute") is not None:
            changes |= _strategies(changes)
        new._put({name: getattr(new, f"_{name}") for name in _SETTINGS} | changes)
        return new

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        new = type(self).__new__(type(self))
        memo[id(self)] = new
        for name in _STRATEGIES:  # a strategy is its devices: a copy of one would be another
            strategy = getattr(self, f"_{name}", None)
            memo[id(strategy)] = strategy
        for name, value in vars(self).items():
            vars(new)[name] = value if isinstance(value, _PLAIN) else copy.deepcopy(value, memo)
        return new

    def __setattr__(self, name: str, value: Any) -> None:
        kind = getattr(type(self), name, None)
        if isinstance(kind, property) and kind.fset is None:
            way = f"make another with config.replace({name}=...)" if name in _SETTINGS else "it comes from TF_CONFIG"
            raise SettingIsFixed(
                f"property {name!r} of {type(self).__name__!r} object has no setter: a RunConfig is a value; {way}."
            )
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in _SETTINGS)})"

    def _put(self, settings: Mapping[str, Any]) -> None:
        for name, value in settings.items():
            is_fine, expected = _RULES.get(name, (lambda _: True, ""))
            if value is not None and not is_fine(value):
                # A number out of range is one mistake, what cannot be compared with a number another.
                kind = WrongKind if name in _NUMBERS and not _is_number(value) else UsageError
                raise kind(f"RunConfig: {expected}, got {value!r}.")
            setattr(self, f"_{name}", value)


_NUMBERS = frozenset(
    "save_summary_steps save_checkpoints_steps save_checkpoints_secs keep_checkpoint_max keep_checkpoint_every_n_hours "
    "log_step_count_steps session_creation_timeout_secs".split()
)
_PLAIN = (str, int, float, type(None))  # a copy of these is the thing itself
_STRATEGIES = ("train_distribute", "eval_distribute", "experimental_distribute")
# The settings by name, in the order of the constructor, and the properties that come from TF_CONFIG.
_SETTINGS = tuple(name for name in inspect.signature(RunConfig).parameters)
_PLACE = (
    "cluster_spec task_type task_id is_chief master evaluation_master num_ps_replicas num_worker_replicas "
    "global_id_in_cluster service"
).split()
_IN_CLUSTER = {"cluster_spec": "spec"}


def _cadence(save_checkpoints_steps: Any, save_checkpoints_secs: Any) -> dict[str, Any]:
    """The two cadences of checkpoints, of which one is None."""
    steps, secs = save_checkpoints_steps, save_checkpoints_secs
    if steps is _UNSET and secs is _UNSET:
        secs = _DEFAULT_SAVE_SECS
    steps, secs = (None if value is _UNSET else value for value in (steps, secs))
    if steps is not None and secs is not None:
        raise UsageError(
            "RunConfig: `save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set; "
            f"got {steps!r} and {secs!r}."
        )
    return {"save_checkpoints_steps": steps, "save_checkpoints_secs": secs}


def _strategies(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The strategies that `experimental_distribute` names, a `tf.contrib.distribute.DistributeConfig`."""
    both = settings.get("experimental_distribute")
    if both is not None and not any(hasattr(both, name) for name in _STRATEGIES[:2]):
        raise WrongKind(
            "RunConfig: experimental_distribute must have the strategies as its attributes train_distribute and "
            f"eval_distribute, got {both!r}. Pass a strategy itself as train_distribute=... or eval_distribute=..."
        )
    named = {name: getattr(both, name, None) for name in _STRATEGIES[:2]}
    for name, strategy in named.items():
        if strategy is not None and settings.get(name) is not None:
            raise UsageError(
                f"RunConfig: Either `{name}` or`experimental_distribute.{name}` can be set, got {settings[name]!r} and "
                f"{strategy!r}. Leave one out."
            )
    return {name: strategy for name, strategy in named.items() if strategy is not None}


def _agreed_model_dir(model_dir: Any, by_platform: str | None) -> Any:
    if model_dir is None:
        return by_platform
    if by_platform is not None and str(model_dir) != by_platform:
        raise UsageError(
            "RunConfig: `model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir "
            f"in TF_CONFIG; got {str(model_dir)!r} here and {by_platform!r} in TF_CONFIG."
        )
    return model_dir


def default_session_config() -> Any:
    """The session settings used when the user has none."""
    config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    # One pass of the graph optimizer: the second one costs start-up time and rarely improves anything.
    config.graph_options.rewrite_options.meta_optimizer_iterations = 1
    return config


def cluster_session_config(cluster: ClusterInfo) -> Any:
    """Session settings for a task of a cluster: it sees the parameter servers and itself, not the other workers.

    None on a single machine, and for a task of a kind that only the program knows.
    """
    filters = {
        CHIEF: [f"/job:{PS}", f"/job:{CHIEF}"],
        MASTER: [f"/job:{PS}", f"/job:{MASTER}"],
        WORKER: [f"/job:{PS}", f"/job:{WORKER}/task:{cluster.task_id}"],
        PS: [f"/job:{job}" for job in (PS, WORKER, CHIEF, MASTER)],
    }.get(cluster.task_type)
    if not cluster.spec.jobs or filters is None:
        return None
    config = default_session_config()
    config.device_filters.extend(filters)
    return config
