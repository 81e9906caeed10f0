"""Which parameter server takes the next variable: `tf.compat.v1.train.replica_device_setter(ps_strategy=...)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError

_OF_VARIABLES = {
    "Variable",
    "VariableV2",
    "VarHandleOp",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
}


class RandomStrategy:
    """Any server, by a seed. The places are others than those of TensorFlow 1, which no number depends on."""

    def __init__(self, num_ps_tasks: int, seed: int = 0) -> None:
        self._tasks = num_ps_tasks
        self._draw = np.random.RandomState(seed)

    def __call__(self, op: Any) -> int:
        """The number of a server."""
        return int(self._draw.randint(self._tasks))


class GreedyLoadBalancingStrategy:
    """The server with the least load so far.

    Args:
        num_tasks: how many servers there are.
        load_fn: from an operation to its load, as `byte_size_load_fn`.
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Any], Any]) -> None:
        self._loads = np.zeros(num_tasks)
        self._load_fn = load_fn

    def __call__(self, op: Any) -> int:
        """The number of a server, whose load grows by that of `op`."""
        task = int(np.argmin(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Any) -> int:
    """How many bytes a variable takes, from the operation that makes it."""
    if op.type not in _OF_VARIABLES and op.type not in ("Placeholder", "Const"):
        raise UsageError(f"byte_size_load_fn: expected the operation of a variable, got {op.name} of type {op.type}.")
    shape = tf.TensorShape(op.get_attr("shape"))
    if not shape.is_fully_defined():
        raise UsageError(f"byte_size_load_fn: the shape of {op.name} must be fully defined, got {shape}.")
    return int(shape.num_elements() * tf.as_dtype(op.get_attr("dtype")).size)
