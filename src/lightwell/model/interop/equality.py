"""`tensor == 0` in Keras code compares values, as it does everywhere else in TensorFlow 2.

In a graph that a session drives TensorFlow compares tensors by identity, so that `x == 0` is plain `False`: a mask
that is never set, a branch that is never taken. Code of a `model_fn` keeps that meaning; while code of Keras 3 layers
and of optimizers runs, tensors compare by value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import tensorflow as tf

from lightwell.foreign.patches import Patches, SharedPatches
from lightwell.model.interop.trace import active_trace


def comparing() -> AbstractContextManager[None]:
    """Lets tensors compare by value inside Keras code of the active trace, until the `with` block ends."""
    return _patches.applied()


def _replace(patches: Patches) -> None:
    patches.wrap(tf.Tensor, "__eq__", functools.partial(_by_value, tf.equal))
    patches.wrap(tf.Tensor, "__ne__", functools.partial(_by_value, tf.not_equal))


_patches = SharedPatches(_replace)


def _by_value(compare: Callable[[Any, Any], Any], original: Any) -> Any:
    @functools.wraps(original)
    def compared(self: Any, other: Any) -> Any:
        trace = active_trace()
        if trace is None or not trace.compares_by_value or other is None or self is other:
            return original(self, other)
        try:
            return compare(self, other)
        except (TypeError, ValueError):  # not comparable by value
            return original(self, other)

    return compared
