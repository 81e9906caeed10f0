"""Distribution strategies of one machine: which of them a verb can run under, and what a session needs for one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType

_v1 = tf.compat.v1.distribute
LOCAL: tuple[type, ...] = (
    tf.distribute.MirroredStrategy,
    tf.distribute.OneDeviceStrategy,
    tf.distribute.experimental.CentralStorageStrategy,
    _v1.MirroredStrategy,
    _v1.OneDeviceStrategy,
    _v1.experimental.CentralStorageStrategy,
)


def check_strategy(doing: str, strategy: Any) -> None:
    """Checks that a verb can run under a strategy, before anything is built.

    Raises:
        WrongType: it is none, or one of another TensorFlow.
        UsageError: it is not one of this machine alone.
    """
    if not isinstance(strategy, tf.distribute.Strategy | _v1.Strategy):
        raise WrongType(
            f"{doing}: RunConfig's strategy must be a tf.distribute.Strategy of this TensorFlow ({tf.__version__}), "
            f"got {type(strategy).__module__}.{type(strategy).__qualname__}. Make it with tf.distribute, for example "
            "tf.distribute.MirroredStrategy()."
        )
    if not isinstance(strategy, LOCAL):
        raise UsageError(
            f"{doing}: RunConfig has the distribution strategy {type(strategy).__name__}, {_why_not(strategy)} Leave "
            "it out to run on one device, or take tf.distribute.MirroredStrategy for all devices of this machine."
        )


def _why_not(strategy: Any) -> str:
    """Why there is no training under a strategy, as the rest of a sentence."""
    tpu = (tf.distribute.TPUStrategy, tf.distribute.experimental.TPUStrategy, _v1.experimental.TPUStrategy)
    if isinstance(strategy, tpu):
        return "which needs TPUs: Lightwell runs on CPUs and GPUs, lw.estimator.tpu.TPUEstimator too."
    if isinstance(strategy, tf.distribute.experimental.ParameterServerStrategy):
        return (
            "which is for Keras and for loops of your own, with a ClusterCoordinator. An Estimator trains over "
            "parameter servers without a strategy: TF_CONFIG with ps tasks is all it takes."
        )
    with tf.Graph().as_default():  # in which nobody has entered a strategy
        is_default = type(strategy) is type(tf.distribute.get_strategy())
    if is_default:
        return "which is what tf.distribute.get_strategy() gives where there is none."
    return "which it does not know."


def with_devices_of(strategies: Sequence[Any], session_config: Any) -> Any:
    """Session settings in which strategies find their devices: a session has one CPU device unless it is told.

    Raises:
        UsageError: the settings say how many CPU devices there are, and they are too few.
    """
    given, settings = session_config.device_count.get("CPU", 0), session_config
    local: list[Any] = [one for one in strategies if isinstance(one, LOCAL)]
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
