"""Small private things of the removed package that programs still import, each too small for a file of its own.

Owns the `estimator_export` decorator, `TaskType`, `fn_args`, `parse_input_fn_result` and the class numbers of heads. No
logic of the library may depend on them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import tensorflow as tf

from lightwell.errors import InputFnError
from lightwell.run import cluster

_Marked = TypeVar("_Marked")


class TaskType:
    """The kinds of task in a cluster."""

    CHIEF = cluster.CHIEF
    EVALUATOR = cluster.EVALUATOR
    MASTER = cluster.MASTER
    PS = cluster.PS
    WORKER = cluster.WORKER


def estimator_export(*names: str, **options: Any) -> Callable[[_Marked], _Marked]:
    """Replaces the decorator that exported a name to `tf.estimator`; returns the object unchanged."""

    def mark(marked: _Marked) -> _Marked:
        return marked

    return mark


def fn_args(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the positional arguments of `function`, without `self` and what a partial has bound."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD)


def all_class_ids(logits: Any, n_classes: int) -> Any:
    """The numbers of all classes for each row of logits, `[batch, n_classes]`."""
    return tf.tile(tf.range(n_classes)[None], [tf.shape(logits)[0], 1])


def all_classes(logits: Any, n_classes: int, label_vocabulary: Any = None) -> Any:
    """The names of all classes for each row of logits: words of the vocabulary, or their numbers as text."""
    words = list(label_vocabulary) if label_vocabulary else [str(number) for number in range(n_classes)]
    return tf.tile(tf.constant(words)[None], [tf.shape(logits)[0], 1])


class _StartsIterator(tf.compat.v1.train.SessionRunHook):
    """Initialises an iterator in each new session."""

    def __init__(self, iterator: Any) -> None:
        self._iterator, self._initializer = iterator, None

    def begin(self) -> None:
        """Looks up the op, before the graph is final."""
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs it."""
        del coord
        session.run(self._initializer)


def parse_input_fn_result(result: Any) -> tuple[Any, Any, list[Any]]:
    """The features and labels that an `input_fn` returned, and the hooks that a session needs for them.

    Args:
        result: a `tf.data.Dataset`, features, or a `(features, labels)` pair, of the default graph.

    Raises:
        InputFnError: `result` is a list or a tuple of another length.
    """
    hooks = []
    if isinstance(result, tf.data.Dataset):
        iterator = tf.compat.v1.data.make_initializable_iterator(result)
        result, hooks = iterator.get_next(), [_StartsIterator(iterator)]
    if not isinstance(result, list | tuple):
        return result, None, hooks
    if len(result) != 2:
        raise InputFnError(
            f"parse_input_fn_result: input_fn should return (features, labels) as a len 2 tuple, got {len(result)} "
            "values. Several features belong in a dict."
        )
    return result[0], result[1], hooks
