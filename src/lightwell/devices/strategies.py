"""Distribution strategies: which of them a verb can run under, what of one is in this process, what a session needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.cluster import EVALUATOR, WORKER, trains_together
from lightwell.config import RunConfig
from lightwell.errors import UsageError, WrongType
from lightwell.log import logger

_v1 = tf.compat.v1.distribute
LOCAL: tuple[type, ...] = (
    tf.distribute.MirroredStrategy,
    tf.distribute.OneDeviceStrategy,
    tf.distribute.experimental.CentralStorageStrategy,
    _v1.MirroredStrategy,
    _v1.OneDeviceStrategy,
    _v1.experimental.CentralStorageStrategy,
)


def check_strategy(doing: str, strategy: Any, config: RunConfig) -> None:
    """Checks that a verb can run under a strategy, before anything is built.

    Raises:
        WrongType: it is none, or one of another TensorFlow.
        UsageError: it is one that there is not, or was made for another cluster.
    """
    if not isinstance(strategy, tf.distribute.Strategy | _v1.Strategy):
        raise WrongType(
            f"{doing}: RunConfig's strategy must be a tf.distribute.Strategy of this TensorFlow ({tf.__version__}), "
            f"got {type(strategy).__module__}.{type(strategy).__qualname__}. Make it with tf.distribute, for example "
            "tf.distribute.MirroredStrategy()."
        )
    if trains_together(strategy):
        _check_cluster(doing, strategy, config)
    elif over_servers(strategy):
        _tell_of_unused_devices(strategy)
    elif not isinstance(strategy, LOCAL):
        raise UsageError(
            f"{doing}: RunConfig has the distribution strategy {type(strategy).__name__}, {_why_not(strategy)} Leave "
            "it out to run on one device, or take tf.distribute.MirroredStrategy for all devices of this machine."
        )


def _why_not(strategy: Any) -> str:
    """Why there is no training under a strategy, as the rest of a sentence."""
    tpu = (tf.distribute.TPUStrategy, tf.distribute.experimental.TPUStrategy, _v1.experimental.TPUStrategy)
    if isinstance(strategy, tpu):
        return "which needs TPUs: Lightwell runs on CPUs and GPUs, a TPUEstimator too."
    if isinstance(strategy, tf.distribute.experimental.ParameterServerStrategy):
        return (
            "which is for Keras and for loops of your own, with a ClusterCoordinator. An Estimator trains over "
            "parameter servers without a strategy: TF_CONFIG with ps tasks is all it takes; "
            "tf.compat.v1.distribute.experimental.ParameterServerStrategy is taken, too, and means the same."
        )
    if not tf.distribute.has_strategy() and type(strategy) is type(tf.distribute.get_strategy()):
        return "which is what tf.distribute.get_strategy() gives where there is none."
    return "which it does not know."


def _check_cluster(doing: str, strategy: Any, config: RunConfig) -> None:
    """Checks that a strategy of several machines is one of the cluster that this process is in."""
    name = type(strategy).__name__
    if config.num_ps_replicas:
        raise UsageError(
            f"{doing}: {name} needs no parameter servers, and TF_CONFIG has {config.num_ps_replicas} ps. Each process "
            'has all variables: leave "ps" out of the cluster. To train over parameter servers, leave the strategy out.'
        )
    if config.task_type == EVALUATOR:
        return
    made_for, there_are = strategy.num_replicas_in_sync // replicas_here(strategy), config.num_worker_replicas
    if made_for != there_are or spans_processes(strategy) != bool(config.cluster_spec.jobs):
        raise UsageError(
            f"{doing}: {name} was made for {made_for} process(es) that train, and TF_CONFIG told RunConfig of "
            f"{there_are}. Make both under the same TF_CONFIG; what a cluster_resolver of your own knows must be "
            "written into TF_CONFIG before either is made."
        )


def over_servers(strategy: Any) -> bool:
    """Whether a strategy is the one of TensorFlow 1 for parameter servers.

    It means what a cluster with parameter servers means without a strategy: each process that trains has a model of its
    own, whose variables stand on the servers, and steps by itself.
    """
    return isinstance(strategy, _v1.experimental.ParameterServerStrategy)


def _tell_of_unused_devices(strategy: Any) -> None:
    found = strategy.extended.worker_devices
    if len(found) > 1:
        logger.warning(
            "%s: of the devices %s of this process one is used. To use all of one machine, take "
            "tf.distribute.MirroredStrategy; of several, tf.distribute.MultiWorkerMirroredStrategy, or start a worker "
            "for each device.",
            type(strategy).__name__,
            ", ".join(map(str, found)),
        )


def replicated(strategy: Any) -> Any:
    """The strategy for whose replicas a model is built; None where this process has one model, on one device."""
    return None if over_servers(strategy) else strategy


def spans_processes(strategy: Any) -> bool:
    """Whether a strategy is one of a cluster, even of a single task: its devices are named after tasks."""
    return strategy is not None and any(re.search(r"/job:(?!localhost)", device) for device in _devices(strategy))


def of_this_process(strategy: Any) -> Any:
    """The strategy, where it is one of this process alone; None else."""
    return None if spans_processes(strategy) else strategy


def replicas_here(strategy: Any) -> int:
    """How many replicas of a strategy this process has; 1 without one."""
    return 1 if strategy is None else len(strategy.extended.worker_devices)


def input_context(strategy: Any, config: RunConfig) -> Any:
    """What `input_fn` is told of those that read beside it; None without a strategy."""
    if strategy is None:
        return None
    in_sync = 1 if over_servers(strategy) else strategy.num_replicas_in_sync
    if not spans_processes(strategy):
        return tf.distribute.InputContext(num_replicas_in_sync=in_sync)
    before = config.num_worker_replicas - config.cluster_spec.num_tasks(WORKER) if config.task_type == WORKER else 0
    return tf.distribute.InputContext(config.num_worker_replicas, before + config.task_id, in_sync)


def with_devices_of(strategies: Sequence[Any], session_config: Any) -> Any:
    """Session settings in which strategies find their devices: a session has one CPU device unless it is told.

    Raises:
        UsageError: the settings say how many CPU devices there are, and they are too few.
    """
    given, settings = session_config.device_count.get("CPU", 0), session_config
    local: list[Any] = [one for one in strategies if isinstance(one, LOCAL) or trains_together(one)]
    for strategy in local:
        settings = strategy.update_config_proto(settings)
        wanted = 1 + max((_cpu_number(device) for device in _devices(strategy)), default=0)
        if given and given < wanted:
            raise UsageError(
                f"RunConfig: {type(strategy).__name__} runs on {wanted} CPU devices, and session_config has "
                f"device_count={{'CPU': {given}}}. Set it to {wanted}, or leave device_count out."
            )
        if wanted > max(1, settings.device_count.get("CPU", 0)):
            settings.device_count["CPU"] = wanted
    return settings


def _devices(strategy: Any) -> tuple[str, ...]:
    extended = strategy.extended
    return (*map(str, extended.worker_devices), *map(str, extended.parameter_devices))


def _cpu_number(device: str) -> int:
    found = re.search(r"CPU:(\d+)", device, re.IGNORECASE)
    return int(found.group(1)) if found else 0
