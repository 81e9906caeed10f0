"""Random layers of Keras 3 in a session: each layer draws new numbers in each step, all from the graph's seed.

A Keras `SeedGenerator` counts its draws in a variable. In a graph nothing orders that count against the draws, and the
checkpoint would carry it; so inside a `model_fn` a draw takes its seed from a random operation of the graph instead.
"""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_keras
from lightwell.foreign.patches import Patches
from lightwell.model.interop.initial_values import seed_from
from lightwell.model.interop.trace import KerasTrace, active_trace


def patch_random(keras: Any, patches: Patches) -> None:
    """Lets the random generators of Keras 3 follow the active trace."""
    patches.wrap(keras.random.SeedGenerator, "next", _wrapped_next)


def _wrapped_next(original: Any) -> Any:
    @functools.wraps(original)
    def next_seed(self: Any, ordered: bool = True) -> Any:
        trace = active_trace()
        if trace is None or private_keras.only_infers_shapes():
            return original(self, ordered)
        drawn = tf.random.uniform([2], maxval=2**31 - 1, dtype=tf.int32, seed=_operation_seed(trace, self))
        return tf.cast(drawn, private_keras.stored_dtype(self.state))

    return next_seed


def _operation_seed(trace: KerasTrace, generator: Any) -> int | None:
    count = trace.draws.get(id(generator), 0)
    trace.draws[id(generator)] = count + 1
    trace.referenced.append(generator)
    own = generator.get_config().get("seed")
    if own is not None:
        return seed_from(0, own, count)
    if trace.graph.seed is None:
        return None
    place = trace.open_calls[-1].path if trace.open_calls else ""
    return seed_from(trace.graph.seed, place, generator.name, count)
