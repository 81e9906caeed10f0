"""`lightwell doctor` without a program: what is installed, and on which devices models run here."""

from __future__ import annotations

import importlib.metadata
import os
import platform

_PACKAGES = ("lightwell", "tensorflow", "tensorflow-cpu", "keras", "tf_keras", "numpy", "tf_slim", "tensorboard")


def environment_lines() -> tuple[list[str], bool]:
    """Lines of text, and whether TensorFlow can be loaded. Loads it: only it knows its devices."""
    versions = [f"{name} {version}" for name in _PACKAGES if (version := _version(name)) is not None]
    lines = [f"Python {platform.python_version()}, {', '.join(versions)}"]
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        import tensorflow as tf
    except ImportError as error:
        return [*lines, f"TensorFlow cannot be loaded ({error}): pip install 'lightwell[cpu]'."], False
    from lightwell.run.devices.gpus import device_summary

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    no_gpus = f"the CPU ({cores} cores): this build of TensorFlow {tf.__version__} has no GPU support"
    return [*lines, f"Models run on {device_summary(None) or no_gpus}."], True


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
