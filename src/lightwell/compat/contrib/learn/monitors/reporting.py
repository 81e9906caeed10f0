"""Monitors that print or hold values: `PrintTensor`, `LoggingTrainable`, `CaptureVariable`, `GraphDump`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base.log import logger
from lightwell.compat.contrib.learn.monitors.base import BaseMonitor, EveryN

_v1 = tf.compat.v1
_DUMP_LEAVES_OUT = ("Const", "Assign", "Identity", "Placeholder", "RandomUniform", "Cast", "RestoreSlice")


class PrintTensor(EveryN):
    """Logs values.

    Args:
        tensor_names: their names, or the names in the log by which they are shown.
        every_n: steps between two lines.
        first_n: up to which step each is logged.
    """

    def __init__(self, tensor_names: Sequence[str] | Mapping[str, str], every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._names = dict(tensor_names) if isinstance(tensor_names, Mapping) else {one: one for one in tensor_names}

    def every_n_step_begin(self, step: int) -> list[Any]:
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> bool:
        values = [f"{shown} = {outputs[name]}" for shown, name in self._names.items() if name in outputs]
        logger.info("Step %d: %s", step, ", ".join(values))
        return False


class LoggingTrainable(EveryN):
    """Logs the trainable variables.

    Args:
        scope: of the variables; all if None.
        every_n: steps between two lines.
        first_n: up to which step each is logged.
    """

    def __init__(self, scope: str | None = None, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._scope = scope
        self._names: list[str] = []

    def every_n_step_begin(self, step: int) -> list[Any]:
        self._names = [one.name for one in _v1.get_collection(_v1.GraphKeys.TRAINABLE_VARIABLES, self._scope)]
        return list(self._names)

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> bool:
        logger.info("Logging Trainable: Step %d: %s", step, ", ".join(f"{n} = {outputs[n]}" for n in self._names))
        return False


class CaptureVariable(EveryN):
    """Holds the values of a variable, by step.

    Args:
        var_name: `dense/kernel:0`.
        every_n: steps between two values.
        first_n: up to which step each is held.
    """

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._name = var_name
        self._values: dict[int, Any] = {}

    @property
    def values(self) -> dict[int, Any]:
        """Step to value."""
        return self._values

    def every_n_step_begin(self, step: int) -> list[Any]:
        return [self._name]

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> bool:
        self._values[step] = outputs[self._name]
        return False


class GraphDump(BaseMonitor):
    """Holds the values of almost all tensors of each step, for comparison.

    Args:
        ignore_ops: types of operations whose tensors are left out.
    """

    def __init__(self, ignore_ops: Sequence[str] | None = None) -> None:
        super().__init__()
        self._left_out = tuple(_DUMP_LEAVES_OUT if ignore_ops is None else ignore_ops)
        self._data: dict[int, dict[str, Any]] = {}
        self._names: list[str] = []

    @property
    def data(self) -> dict[int, dict[str, Any]]:
        """Step to values by name."""
        return self._data

    def begin(self, max_steps: int | None = None) -> None:
        super().begin(max_steps)
        self._names = []
        for op in _v1.get_default_graph().get_operations():
            plain = op.type not in self._left_out and not op._get_control_flow_context()
            dtypes = (one.dtype for one in op.outputs)
            if plain and op.outputs and all(one not in (tf.resource, tf.variant) for one in dtypes):
                self._names.extend(one.name for one in op.outputs if _is_of_the_step(one))

    def step_begin(self, step: int) -> list[Any]:
        return list(self._names)

    def step_end(self, step: int, output: dict[Any, Any]) -> bool:
        self._data[step] = {name: output[name] for name in self._names}
        return False

    def compare(self, other_dump: GraphDump, step: int, atol: float = 1e-06) -> tuple[list[str], dict[str, Any]]:
        """The names whose values are equal in another dump, and the others with both values."""
        ours, theirs = self._data[step], other_dump.data[step]
        matched, different = [], {}
        for name in ours:
            if name in theirs:
                same = _close(ours[name], theirs[name], atol)
                matched.append(name) if same else different.update({name: (ours[name], theirs[name])})
        return matched, different


def _close(one: Any, other: Any, atol: float) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape or one.dtype.kind not in "fiub":
        return bool(np.array_equal(one, other))
    return bool(np.allclose(one, other, atol=atol))


def _is_of_the_step(tensor: Any) -> bool:
    """Whether a step computes a tensor: initial values and restored ones need inputs of their own."""
    names = ("/Initializer/", "save/", "/initial_value", "report_uninitialized")
    return not any(part in tensor.name for part in names)
