"""Conditions on values: told at once where values are at hand, in a graph by the step that breaks one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType

_MOST_SHOWN = 10


def require(value: Any, is_good: Callable[[Any], Any], text: str, told: Callable[[Any], Any] | None = None) -> Any:
    """`value`, which must be good element by element.

    Args:
        value: a tensor.
        is_good: gives, for a tensor, one truth value for each element.
        text: what was expected, and what to do; the bad elements are added to it.
        told: gives, for a tensor, what to show in place of the bad elements: a tensor of the same shape.

    Returns:
        The value; in a graph one whose step fails if an element is bad.

    Raises:
        UsageError: outside of graphs, an element is bad.
    """
    good = is_good(value)
    shown = value if told is None else told(value)
    if tf.executing_eagerly():
        if not bool(tf.reduce_all(good)):
            raise UsageError(f"{text} Got {_listed(tf.boolean_mask(shown, tf.logical_not(good)))}.")
        return value
    all_good = tf.reduce_all(good)
    return _unless(all_good, lambda: [f"{text} Got", tf.boolean_mask(shown, tf.logical_not(good))], value)


def require_shape(value: Any, expected: Any, text: str) -> Any:
    """`value`, whose shape must be `expected`: a tensor of sizes, known when the step runs."""
    shape = tf.shape(value)
    same = tf.reduce_all(tf.equal(shape, expected)) if _same_rank(shape, expected) else _read_alike(shape, expected)
    return _unless(same, lambda: [f"{text} Expected shape", _written(expected), "got", _written(shape)], value)


def whole_number(value: Any, argument: str, where: str) -> int:
    """A whole number that was given as `argument`.

    Raises:
        WrongType: it is something else.
    """
    if isinstance(value, str) or not hasattr(value, "__index__"):
        raise WrongType(f"{where}: {argument} must be a whole number, got {value!r}.")
    return int(value)


def _unless(is_good: Any, told: Callable[[], list[Any]], value: Any) -> Any:
    """`value`, once it is known to be good. What is told of a bad one is made of it only then: steps stay short."""

    def fail() -> Any:
        with tf.control_dependencies([tf.raw_ops.Assert(condition=is_good, data=told(), summarize=_MOST_SHOWN)]):
            return tf.constant(False)

    checked = tf.cond(is_good, lambda: tf.constant(True), fail)
    with tf.control_dependencies([checked]):
        return tf.identity(value)


def _same_rank(shape: Any, expected: Any) -> bool:
    rank = tf.compat.dimension_value(shape.shape[0])
    return rank is not None and rank == expected.shape[0]


def _read_alike(shape: Any, expected: Any) -> Any:
    return tf.equal(_written(shape), _written(expected))


def _written(sizes: Any) -> Any:
    """Sizes as text: shapes of different ranks can be compared so, and read."""
    return tf.strings.join(["(", tf.strings.reduce_join(tf.strings.as_string(sizes), separator=", "), ")"])


def _listed(values: Any) -> str:
    found = [one.decode() if isinstance(one, bytes) else one for one in values.numpy().tolist()]
    return f"{found[:_MOST_SHOWN]}{' and more' if len(found) > _MOST_SHOWN else ''}"
