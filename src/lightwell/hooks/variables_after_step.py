"""A variable that a hook fetches beside the step, as TensorFlow 1 gave it: with the value that the step left.

There a fetched variable was the buffer that the step wrote into, so that hooks saw what the step had made of it:
`SessionRunArgs(tf.train.get_global_step())` gave 1 for the first step, always. A variable of today is read beside the
step, and mostly before it. Programs of TensorFlow 1 count on the former (`if step % 100 == 0`); for those of
TensorFlow 2 nothing changes.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.hooks.base import Late


def is_tensorflow_1() -> bool:
    """Whether the process behaves as TensorFlow 1: `shape[0]` is a Dimension, as `lightwell run` and
    `disable_v2_behavior` make it."""
    return isinstance(tf.TensorShape([1])[0], tf.compat.v1.Dimension)


class VariablesAfterStep:
    """Puts a `Late` in the place of each variable in a structure of fetches; the same one each time, so that what was
    made ready for a structure is found again."""

    def __init__(self) -> None:
        self._late: dict[int, Late] = {}

    def of(self, fetches: Any) -> Any:
        """The structure with its variables to be read once the step is over."""
        if isinstance(fetches, tf.Variable):
            return self._late.setdefault(id(fetches), Late(fetches))
        if type(fetches) is dict:
            return {key: self.of(value) for key, value in fetches.items()}
        if type(fetches) in (list, tuple):
            return type(fetches)(map(self.of, fetches))
        return fetches
