"""Fetches variables after the step in programs of TensorFlow 1, as TensorFlow 1 did.

There a fetched variable was the buffer that the step wrote into, so that hooks saw the new value:
`SessionRunArgs(tf.train.get_global_step())` always gave 1 for the first step. A resource variable is read in parallel
with the step, and mostly before it. Programs of TensorFlow 1 rely on the former (`if step % 100 == 0`); for those of
TensorFlow 2 nothing changes.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.run.hooks.base import Late


def is_tensorflow_1() -> bool:
    """Whether the process behaves as TensorFlow 1: `shape[0]` is a Dimension, as `lightwell run` and
    `disable_v2_behavior` make it."""
    return isinstance(tf.TensorShape([1])[0], tf.compat.v1.Dimension)


class VariablesAfterStep:
    """Replaces each variable in a structure of fetches by a `Late`; the same one each time, so that a prepared fetch
    is reused."""

    def __init__(self) -> None:
        self._late: dict[int, Late] = {}

    def of(self, fetches: Any) -> Any:
        """The structure with its variables, and their handles, replaced by `Late` fetches."""
        if isinstance(fetches, tf.Variable) or _is_handle(fetches):
            return self._late.setdefault(id(fetches), Late(fetches))
        if type(fetches) is dict:
            return {key: self.of(value) for key, value in fetches.items()}
        if type(fetches) in (list, tuple):
            return type(fetches)(map(self.of, fetches))
        return fetches


def _is_handle(fetch: Any) -> bool:
    """Whether it is what `graph.get_tensor_by_name("dense/kernel:0")` gives; the value of the variable is fetched."""
    return isinstance(fetch, tf.Tensor) and fetch.dtype == tf.resource and fetch.op.type == "VarHandleOp"
