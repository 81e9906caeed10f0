"""A user's function at a value: its TensorFlow ops in the graph, or a NumPy function beside it.

The ops are built in a function of the graph with a seed of its own. TensorFlow numbers the random ops of a graph to
seed them; those of an edit must not be among the model's, whose draws would change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.base.log import logger
from lightwell.errors import UsageError
from lightwell.inside.edits.base import At

# What TensorFlow says where a function does with a tensor what only an array can do.
_NEEDS_ARRAY = ("numpy", "item assignment", "__array__")


def applied(function: Callable[[Any], Any], is_numpy: bool | None, value: Any, at: At) -> Any:
    """What a function makes of a value.

    Args:
        function: the user's.
        is_numpy: whether it takes arrays; None finds out.
        value: the tensor.
        at: where.
    """
    if is_numpy:
        return _of_arrays(function, value, at)
    try:
        return of_tensors(function, value, at)
    except (NotImplementedError, TypeError, AttributeError) as error:
        if is_numpy is False or not any(word in str(error) for word in _NEEDS_ARRAY):
            raise
        return _of_arrays(function, value, at)


def of_tensors(function: Callable[[Any], Any], value: Any, at: At) -> Any:
    """What a function of TensorFlow ops makes of a value, its random numbers apart from the model's."""
    before = _variables()

    def body(x: Any) -> Any:
        if at.seed is not None:
            tf.compat.v1.set_random_seed(at.seed)
        result = function(x)
        if result is None:
            raise UsageError(f"{at.where}: the function gave None for {at.path!r}. Return the value to go on with.")
        return result

    try:
        result = tf.function(body, autograph=False)(value)
        makes_variables = _variables() != before
    except ValueError as error:
        if "tf.function only supports singleton tf.Variables" not in str(error):
            raise
        makes_variables = True
    if makes_variables:
        raise UsageError(
            f"{at.where}: the function makes variables at {at.path!r}, which no checkpoint has. Give it arrays instead."
        )
    return result


def _of_arrays(function: Callable[[Any], Any], value: Any, at: At) -> Any:
    if not isinstance(value, tf.Tensor):
        raise at.error(f"is a {type(value).__name__}; a NumPy function takes dense tensors only.")
    if at.mode == ModeKeys.TRAIN and not at.path.startswith(("gradients", "labels", "features")):
        raise at.error(
            "is changed by a NumPy function, which has no gradient: what stands before it would not be trained. Write "
            "it with TensorFlow ops, or use it in evaluate and predict."
        )
    logger.warning(
        "%s: a NumPy function runs in Python for each step, which is slow; TensorFlow ops run in the graph.", at.where
    )
    dtype = value.dtype

    def call(array: Any) -> Any:
        result = np.asarray(function(np.array(array)))
        return result if dtype == tf.string else result.astype(dtype.as_numpy_dtype)

    return tf.numpy_function(call, [value], dtype)


def _variables() -> int:
    return len(tf.compat.v1.global_variables()) + len(tf.compat.v1.local_variables())
