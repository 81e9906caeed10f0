"""`tf.contrib.learn.monitors`: what `fit` of contrib.learn tells of each step."""

from __future__ import annotations

from lightwell.compat.contrib.learn.monitors.adapter import RunHookAdapterForMonitors, replace_monitors_with_hooks
from lightwell.compat.contrib.learn.monitors.base import BaseMonitor, EveryN
from lightwell.compat.contrib.learn.monitors.reporting import CaptureVariable, GraphDump, LoggingTrainable, PrintTensor
from lightwell.compat.contrib.learn.monitors.saving import (
    CheckpointSaver,
    ExportMonitor,
    StepCounter,
    SummarySaver,
    get_default_monitors,
)
from lightwell.compat.contrib.learn.monitors.stopping import NanLoss, NanLossDuringTrainingError, StopAtStep
from lightwell.compat.contrib.learn.monitors.validation import ValidationMonitor

__all__ = [
    "BaseMonitor",
    "CaptureVariable",
    "CheckpointSaver",
    "EveryN",
    "ExportMonitor",
    "GraphDump",
    "LoggingTrainable",
    "NanLoss",
    "NanLossDuringTrainingError",
    "PrintTensor",
    "RunHookAdapterForMonitors",
    "StepCounter",
    "StopAtStep",
    "SummarySaver",
    "ValidationMonitor",
    "get_default_monitors",
    "replace_monitors_with_hooks",
]
