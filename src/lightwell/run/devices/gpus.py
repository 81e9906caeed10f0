"""The GPUs that a session may use: which there are, how their memory is taken, and what they change by default.

`tf.config` is where TensorFlow 2 programs choose devices and memory; a session of TensorFlow 1 knows nothing of it, so
its settings are carried over here. What the user's `session_config` says comes first.
"""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.foreign import private_tf

GROWTH = "growth"
AUTO = "auto"
AUTO_BY_DEFAULT = "auto, by default"
"""As AUTO, which nobody asked for: what cannot be compiled is no warning."""


def visible_gpus(session_config: Any = None) -> list[Any]:
    """The GPUs that a session with these settings sees, as `tf.config.PhysicalDevice`s; none where it is told so."""
    if session_config is not None and session_config.device_count.get("GPU", 1) == 0:
        return []
    return list(tf.config.get_visible_devices("GPU"))


def with_gpu_settings(session_config: Any, gpu_memory: Any) -> Any:
    """Session settings with `RunConfig.gpu_memory` and what `tf.config` says of GPUs; the same object without GPUs.

    Args:
        session_config: a `tf.compat.v1.ConfigProto`.
        gpu_memory: `RunConfig.gpu_memory`.
    """
    physical = tf.config.list_physical_devices("GPU")
    if not physical:
        return session_config
    settings = type(session_config)()
    settings.CopyFrom(session_config)
    options, visible = settings.gpu_options, tf.config.get_visible_devices("GPU")
    if not visible and "GPU" not in settings.device_count:
        settings.device_count["GPU"] = 0
    elif len(visible) < len(physical) and not options.visible_device_list:
        options.visible_device_list = ",".join(str(physical.index(gpu)) for gpu in visible)
    if gpu_memory == GROWTH or (gpu_memory is None and any(map(_grows, visible))):
        options.allow_growth = True
    elif gpu_memory is not None:
        options.per_process_gpu_memory_fraction = float(gpu_memory)
    if visible:
        _warn_if_late(gpu_memory)
    return settings


def compile_setting(jit_compile: Any, session_config: Any) -> Any:
    """`RunConfig.jit_compile`, with the default filled in: "auto" where a GPU computes, unless its operations shall be
    deterministic; a trial of compiled steps changes last digits, as a GPU does by itself otherwise."""
    if jit_compile is not None:
        return jit_compile
    return AUTO_BY_DEFAULT if visible_gpus(session_config) and not private_tf.is_deterministic() else False


def device_summary(session_config: Any) -> str | None:
    """On which devices a session runs, in words; None where there is no choice, as TensorFlow has no GPUs built in."""
    gpus = visible_gpus(session_config)
    if gpus:
        return ", ".join(f"GPU:{number} ({_name(gpu)})" for number, gpu in enumerate(gpus))
    if not tf.test.is_built_with_cuda():
        return None
    if tf.config.list_physical_devices("GPU"):
        return "the CPU: its settings hide the GPUs"
    return "the CPU: TensorFlow sees no GPU (`nvidia-smi` lists them; CUDA_VISIBLE_DEVICES may hide them)"


def _grows(gpu: Any) -> bool:
    return bool(tf.config.experimental.get_memory_growth(gpu))


def _name(gpu: Any) -> str:
    return str(tf.config.experimental.get_device_details(gpu).get("device_name", gpu.name))


@functools.cache
def _first_setting() -> list[Any]:
    return []


def _warn_if_late(gpu_memory: Any) -> None:
    """TensorFlow takes the memory of a GPU once per process; a setting that comes later changes nothing."""
    first = _first_setting()
    if not first:
        first.append(gpu_memory)
    elif gpu_memory not in (None, first[0]):
        logger.warning(
            "RunConfig: gpu_memory=%r has no effect: this process has used its GPUs with gpu_memory=%r before, and "
            "TensorFlow decides it once per process. Set it in the first RunConfig.",
            gpu_memory,
            first[0],
        )
        first[0] = gpu_memory  # once for each change
