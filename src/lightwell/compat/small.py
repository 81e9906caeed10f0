"""Small private things of the removed package that programs still import, each too small for a file of its own.

Owns: the `estimator_export` mark, `TaskType` and `fn_args`. No logic of the library may depend on them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from lightwell import cluster

_Marked = TypeVar("_Marked")


class TaskType:
    """The kinds of task in a cluster."""

    CHIEF = cluster.CHIEF
    EVALUATOR = cluster.EVALUATOR
    MASTER = cluster.MASTER
    PS = cluster.PS
    WORKER = cluster.WORKER


def estimator_export(*names: str, **options: Any) -> Callable[[_Marked], _Marked]:
    """Take the place of the mark that put a name into `tf.estimator`: gives the marked object back unchanged."""

    def mark(marked: _Marked) -> _Marked:
        return marked

    return mark


def fn_args(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the positional arguments of `function`, without `self` and what a partial has bound."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD)
