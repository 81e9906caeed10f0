"""Alignments that never look back: `monotonic_attention`, and the stable product of all before, `safe_cumprod`."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Any:
    """The product of all entries up to each, by logarithms, with entries no less than the least float.

    Args:
        x: a tensor.
        *args: for `tf.cumsum`.
        **kwargs: for `tf.cumsum`, as `axis` and `exclusive`.
    """
    values = tf.convert_to_tensor(x)
    tiny = np.finfo(values.dtype.as_numpy_dtype).tiny
    return tf.exp(tf.cumsum(tf.math.log(tf.clip_by_value(values, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Any:
    """The chance of each place to be the one where a walk from the place before stops.

    Args:
        p_choose_i: the chance to stop at a place that the walk reaches, `[batch, places]`.
        previous_attention: where it was before, likewise.
        mode: `recursive`, exact and slow; `parallel`, which divides by chances and may be inexact where they are nearly
            1; `hard`, for chances of 0 and 1 alone.

    Raises:
        UsageError: there is no such mode.
    """
    stops, before = tf.convert_to_tensor(p_choose_i), tf.convert_to_tensor(previous_attention)
    if mode == "recursive":
        goes_on = tf.concat([tf.ones_like(stops[:, :1]), 1 - stops[:, :-1]], 1)

        def step(reached: Any, place: Any) -> Any:
            on, here = place
            return on * reached + here

        reached = tf.scan(step, (tf.transpose(goes_on), tf.transpose(before)), tf.zeros_like(stops[:, 0]))
        return stops * tf.transpose(reached)
    if mode == "parallel":
        on = safe_cumprod(1 - stops, axis=1, exclusive=True)
        return stops * on * tf.cumsum(before / tf.clip_by_value(on, 1e-10, 1.0), axis=1)
    if mode == "hard":
        ahead = stops * tf.cumsum(before, axis=1)
        return ahead * tf.math.cumprod(1 - ahead, axis=1, exclusive=True)
    raise UsageError("monotonic_attention: mode must be 'recursive', 'parallel', or 'hard'.")
