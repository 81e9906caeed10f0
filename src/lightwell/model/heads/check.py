"""Checks of values: raised at once in eager code, in a graph by the step that fails the check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongKind

_MOST_SHOWN = 10


class DoesNotFit(UsageError, tf.errors.InvalidArgumentError):
    """Labels or weights have a shape, or values, that the head cannot use; what a step says of it, and TensorFlow where
    values are at hand."""

    def __init__(self, message: str) -> None:
        tf.errors.InvalidArgumentError.__init__(self, None, None, message)

    def __str__(self) -> str:
        return str(self.message)


def require(value: Any, is_good: Callable[[Any], Any], text: str, shown: Callable[[Any], Any] | None = None) -> Any:
    """Returns `value` after a check of each element.

    Args:
        value: a tensor.
        is_good: returns a boolean for each element of a tensor.
        text: what was expected, and what to do; the bad elements are added to it.
        shown: returns a tensor of the same shape, whose elements the message shows instead of the bad ones.

    Returns:
        The value; in a graph, its step fails if an element is bad.

    Raises:
        DoesNotFit: outside of graphs, an element is bad.
    """
    good = is_good(value)
    display = value if shown is None else shown(value)
    if tf.executing_eagerly():
        if not bool(tf.reduce_all(good)):
            raise DoesNotFit(f"{text} Got {_listed(tf.boolean_mask(display, tf.logical_not(good)))}.")
        return value
    bad = tf.gather_nd(display, tf.where(tf.logical_not(good)))
    return _unless(tf.equal(tf.size(bad), 0), [f"{text} Got", bad], value)


def require_shape(value: Any, logits: Any, dimension: int, text: str) -> Any:
    """`value`, whose shape must be that of the logits with `dimension` at its end, once the step knows it."""
    message = [
        f"{text} Expected the shape of the logits with {dimension} at its end. Logits:",
        tf.shape(logits),
        "got:",
        tf.shape(value),
    ]
    return _unless(_is_alike(value, logits, dimension), message, value)


def whole_number(value: Any, argument: str, where: str) -> int:
    """Checks that an argument is a whole number.

    Raises:
        WrongKind: it is something else.
    """
    if isinstance(value, str) or not hasattr(value, "__index__"):
        raise WrongKind(f"{where}: {argument} must be a whole number, got {value!r}.")
    return int(value)


def _unless(is_good: Any, message: list[Any], value: Any) -> Any:
    """Returns `value` after an assertion.

    The message is computed in every step: a few small ops, while a branch for it took fifty.
    """
    with tf.control_dependencies([tf.raw_ops.Assert(condition=is_good, data=message, summarize=_MOST_SHOWN)]):
        return tf.identity(value)


def _is_alike(value: Any, logits: Any, dimension: int) -> Any:
    rank, last = value.shape.rank, logits.shape[-1] if logits.shape.rank else None
    if rank is not None and rank == logits.shape.rank and last is not None and value.shape[-1] == dimension:
        pairs = zip(value.shape[:-1], logits.shape[:-1], strict=True)
        if sum(None in pair for pair in pairs) <= 1:  # where one size may differ, so does their product
            count, of_logits = tf.size(value), tf.size(logits)
            return tf.equal(count, of_logits) if last == dimension else tf.equal(count * last, of_logits * dimension)
    shape, expected = tf.shape(value), tf.concat([tf.shape(logits)[:-1], [dimension]], axis=0)
    if shape.shape.is_fully_defined() and shape.shape == expected.shape:
        return tf.reduce_all(tf.equal(shape, expected))
    return tf.equal(_written(shape), _written(expected))


def _written(sizes: Any) -> Any:
    """Sizes as text, so that shapes of different ranks can be compared and shown."""
    return tf.strings.join(["(", tf.strings.reduce_join(tf.strings.as_string(sizes), separator=", "), ")"])


def _listed(values: Any) -> str:
    items = [one.decode() if isinstance(one, bytes) else one for one in values.numpy().tolist()]
    return f"{items[:_MOST_SHOWN]}{' and more' if len(items) > _MOST_SHOWN else ''}"
