"""`tf.contrib.compiler.jit`: parts of a graph that XLA may compile."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf


@contextlib.contextmanager
def experimental_jit_scope(compile_ops: Any = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """Operations made in it are compiled, or not.

    Args:
        compile_ops: whether; or a function from a node to whether.
        separate_compiled_gradients: whether gradients are compiled apart.
    """
    with tf.xla.experimental.jit_scope(compile_ops, separate_compiled_gradients):
        yield
