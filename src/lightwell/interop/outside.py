"""Layers made outside of `model_fn`: what they hold besides variables.

A layer may keep eager tensors (an adapted `Normalization` keeps its mean); in a graph they are constants. Lookup tables
made outside have no counterpart in the graph, which is said in a sentence.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow as tf

from lightwell.errors import ModelFnError
from lightwell.interop.initial_values import fixed
from lightwell.interop.trace import KerasTrace


def lend_constants(trace: KerasTrace, owners: Iterable[Any]) -> None:
    """Replaces the eager tensors that objects keep (the factor of a regulariser) by constants, until the trace ends."""
    for owner in owners:
        for name, value in list(vars(owner).items()) if hasattr(owner, "__dict__") else ():
            if _is_eager(value):
                with tf.init_scope():
                    vars(owner)[name] = fixed(value.numpy(), value.dtype)
                trace.lent.append((owner, name, value))


def take_back(trace: KerasTrace) -> None:
    """Gives the objects their own tensors again."""
    while trace.lent:
        owner, name, value = trace.lent.pop()
        vars(owner)[name] = value


@contextlib.contextmanager
def eager_tensors_as_constants(layer: Any) -> Iterator[None]:
    """Replaces the eager tensors among a layer's attributes by constants of the default graph inside the block."""
    kept = {name: value for name, value in vars(layer).items() if _is_eager(value)}
    for name, value in kept.items():
        vars(layer)[name] = fixed(value.numpy(), value.dtype)
    try:
        yield
    finally:
        vars(layer).update(kept)


def raise_if_eager(error: RuntimeError, layer: Any) -> None:
    """Says what to do if TensorFlow refused something that lives outside of the graph.

    Raises:
        ModelFnError: it did.
    """
    if "EagerTensor" in str(error) and not isinstance(error, ModelFnError):
        raise ModelFnError(
            f"model_fn called the {type(layer).__name__} layer {layer.name!r}, which holds a tensor or a lookup table "
            "that was made outside of model_fn and cannot enter its graph. Create the layer inside model_fn; read a "
            "vocabulary outside with layer.get_vocabulary() and pass it as vocabulary=..."
        ) from error


def _is_eager(value: Any) -> bool:
    return isinstance(value, tf.Tensor) and hasattr(value, "numpy") and value.dtype not in (tf.resource, tf.variant)
