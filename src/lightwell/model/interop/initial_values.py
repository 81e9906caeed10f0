"""Initial values of Keras variables: from the initializer with a seed of this graph, or from an array.

Keras draws the seed of an initializer from Python's generator, so `tf_random_seed` would not reach it. Here the seed
follows from the graph's seed and the variable's name: the same model starts from the same weights whatever was built
before it.
"""

from __future__ import annotations

import concurrent.futures
import functools
import zlib
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_keras
from lightwell.foreign.patches import Patches

# Above this an array stays in the process instead of being written into the graph (and each copy of it on disk).
LARGEST_CONSTANT_BYTES = 64 * 1024


class DrawnSeed(int):
    """A seed that Keras drew by default; some layers pass it on to the initializers they create."""


def patch_initializers(keras: Any, patches: Patches) -> None:
    """Marks the seeds that the random initializers of Keras 3 draw for themselves."""
    kind = private_keras.random_initializer_class(keras)
    if "__init__" in vars(kind):  # in early releases each initializer draws for itself, and none hands a seed on
        patches.wrap(kind, "__init__", _wrapped_init)


def _wrapped_init(original: Any) -> Any:
    @functools.wraps(original)
    def init(self: Any, seed: Any = None) -> None:
        original(self, seed)
        if seed is None:
            self.seed = DrawnSeed(self.seed)

    return init


def seed_from(graph_seed: int, *parts: object) -> int:
    """A seed that follows from the graph's seed and what the value is for."""
    return zlib.crc32("/".join(map(str, (graph_seed, *parts))).encode()) & 0x7FFFFFFF


def seeded(initializer: Any, graph_seed: int | None, name: str) -> Any:
    """The initializer with a seed for this variable, if it draws at random, has no seed yet and the graph has one."""
    if graph_seed is None or not hasattr(initializer, "get_config") or not hasattr(initializer, "from_config"):
        return initializer
    config = initializer.get_config()
    seed = config.get("seed", 0)
    if seed is not None and not isinstance(seed, DrawnSeed):
        return initializer
    return type(initializer).from_config({**config, "seed": seed_from(graph_seed, name)})


def fixed(array: Any, dtype: Any) -> Any:
    """A tensor with the array's values, in the default graph."""
    if array.nbytes <= LARGEST_CONSTANT_BYTES:
        return tf.constant(array, dtype=dtype)
    tensor = tf.numpy_function(lambda: array, [], tf.as_dtype(array.dtype), stateful=False)
    tensor.set_shape(array.shape)
    return tf.cast(tensor, dtype)


def outside_the_graph(function: Callable[[], Any]) -> Any:
    """What `function` returns when it is called eagerly, while a graph is being built: a new thread is eager."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(function).result()
