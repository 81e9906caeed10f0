"""Distribution strategies: which ones a verb supports, their replicas in this process, their session settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.errors import UsageError, WrongType
from lightwell.run.cluster import EVALUATOR, WORKER, is_synchronized
from lightwell.run.config import RunConfig

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
        WrongType: it is no strategy of this TensorFlow.
        UsageError: it is not supported, or belongs to another cluster.
    """
    if not isinstance(strategy, tf.distribute.Strategy | _v1.Strategy):
        raise WrongType(
            f"{doing}: RunConfig's strategy must be a tf.distribute.Strategy of this TensorFlow ({tf.__version__}), "
            f"got {type(strategy).__module__}.{type(strategy).__qualname__}. Make it with tf.distribute, for example "
            "tf.distribute.MirroredStrategy()."
        )
    if is_synchronized(strategy):
        _check_cluster(doing, strategy, config)
    elif uses_parameter_servers(strategy):
        _warn_of_unused_devices(strategy)
    elif not isinstance(strategy, LOCAL):
        raise UsageError(
            f"{doing}: RunConfig has the distribution strategy {type(strategy).__name__}, {_why_not(strategy)} Leave "
            "it out to run on one device, or take tf.distribute.MirroredStrategy for all devices of this machine."
        )


def _why_not(strategy: Any) -> str:
    """Why a strategy is not supported, as the rest of a sentence."""
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
    in_strategy, in_cluster = strategy.num_replicas_in_sync // replicas_here(strategy), config.num_worker_replicas
    if in_strategy != in_cluster or spans_processes(strategy) != bool(config.cluster_spec.jobs):
        raise UsageError(
            f"{doing}: {name} was made for {in_strategy} process(es) that train, and TF_CONFIG told RunConfig of "
            f"{in_cluster}. Make both under the same TF_CONFIG; what a cluster_resolver of your own knows must be "
            "written into TF_CONFIG before either is made."
        )


def uses_parameter_servers(strategy: Any) -> bool:
    """Whether a strategy is the one of TensorFlow 1 for parameter servers.

    It means the same as a cluster with parameter servers and no strategy: each worker has a model of its own, whose
    variables are on the servers, and steps by itself.
    """
    return isinstance(strategy, _v1.experimental.ParameterServerStrategy)


def _warn_of_unused_devices(strategy: Any) -> None:
    devices = strategy.extended.worker_devices
    if len(devices) > 1:
        logger.warning(
            "%s: of the devices %s of this process one is used. To use all of one machine, take "
            "tf.distribute.MirroredStrategy; of several, tf.distribute.MultiWorkerMirroredStrategy, or start a worker "
            "for each device.",
            type(strategy).__name__,
            ", ".join(map(str, devices)),
        )


def replicated(strategy: Any) -> Any:
    """The strategy for whose replicas a model is built; None where this process has one model, on one device."""
    return None if uses_parameter_servers(strategy) else strategy


def spans_processes(strategy: Any) -> bool:
    """Whether a strategy is one of a cluster, even of a single task: its devices are named after tasks."""
    return strategy is not None and any(re.search(r"/job:(?!localhost)", device) for device in _devices(strategy))


def local_strategy(strategy: Any) -> Any:
    """The strategy, if all its devices are in this process; else None."""
    return None if spans_processes(strategy) else strategy


def replicas_here(strategy: Any) -> int:
    """How many replicas of a strategy this process has; 1 without one."""
    return 1 if strategy is None else len(strategy.extended.worker_devices)


def input_context(strategy: Any, config: RunConfig) -> Any:
    """The `input_context` of `input_fn`; None without a strategy."""
    if strategy is None:
        return None
    in_sync = 1 if uses_parameter_servers(strategy) else strategy.num_replicas_in_sync
    if not spans_processes(strategy):
        return tf.distribute.InputContext(num_replicas_in_sync=in_sync)
    before = config.num_worker_replicas - config.cluster_spec.num_tasks(WORKER) if config.task_type == WORKER else 0
    return tf.distribute.InputContext(config.num_worker_replicas, before + config.task_id, in_sync)


def add_strategy_devices(strategies: Sequence[Any], session_config: Any) -> Any:
    """Session settings with the devices of strategies: by default a session has one CPU device.

    Raises:
        UsageError: the settings say how many CPU devices there are, and they are too few.
    """
    cpus, settings = session_config.device_count.get("CPU", 0), session_config
    local: list[Any] = [one for one in strategies if isinstance(one, LOCAL) or is_synchronized(one)]
    for strategy in local:
        settings = strategy.update_config_proto(settings)
        needed = 1 + max((_cpu_number(device) for device in _devices(strategy)), default=0)
        if cpus and cpus < needed:
            raise UsageError(
                f"RunConfig: {type(strategy).__name__} runs on {needed} CPU devices, and session_config has "
                f"device_count={{'CPU': {cpus}}}. Set it to {needed}, or leave device_count out."
            )
        if needed > max(1, settings.device_count.get("CPU", 0)):
            settings.device_count["CPU"] = needed
    return settings


def _devices(strategy: Any) -> tuple[str, ...]:
    extended = strategy.extended
    return (*map(str, extended.worker_devices), *map(str, extended.parameter_devices))


def _cpu_number(device: str) -> int:
    match = re.search(r"CPU:(\d+)", device, re.IGNORECASE)
    return int(match.group(1)) if match else 0
