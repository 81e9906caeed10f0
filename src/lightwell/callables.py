"""Which of our named arguments does a user's function take?

Owns that one question, for `model_fn`, `input_fn` and any other function a user hands in: plain functions, methods,
`functools.partial`, objects with `__call__`, decorated functions.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Takes:
    """What a function can be called with.

    Attributes:
        names: arguments that can be given by name, in order of declaration.
        required: those of `names` that have no default.
        anything: whether the function also has a `**kwargs`.
    """

    names: tuple[str, ...]
    required: frozenset[str]
    anything: bool

    def accepts(self, name: str) -> bool:
        """Whether `name` is a declared argument."""
        return name in self.names


def arguments_of(function: Callable[..., Any]) -> Takes:
    """Looks up what `function` can be called with.

    What a `functools.partial` has bound already is left out: a caller who wrote `partial(model_fn, params=mine)` means
    `mine`, whatever the Estimator would pass.
    """
    if isinstance(function, functools.partial):
        inner = arguments_of(function.func)
        left = [name for name in inner.names[len(function.args) :] if name not in function.keywords]
        return Takes(tuple(left), inner.required.intersection(left), inner.anything)
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a function of C that hides its signature: it can only be called with what it cannot refuse
        return Takes((), frozenset(), anything=False)
    named = [parameter for parameter in parameters if parameter.kind in _BY_NAME]
    return Takes(
        names=tuple(parameter.name for parameter in named),
        required=frozenset(p.name for p in named if p.default is inspect.Parameter.empty),
        anything=any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters),
    )


def name_of(function: Callable[..., Any]) -> str:
    """A name for `function` that its author recognises in a message."""
    while isinstance(function, functools.partial):
        function = function.func
    name: str = getattr(function, "__qualname__", None) or type(function).__qualname__
    return name.rpartition("<locals>.")[2]
