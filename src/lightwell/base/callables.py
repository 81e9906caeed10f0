"""Which named arguments a user's function accepts.

Works for plain functions, methods, `functools.partial`, objects with `__call__` and decorated functions.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Parameters:
    """What a function can be called with.

    Attributes:
        names: arguments that can be passed by name, in order of declaration.
        required: those of `names` that have no default.
        has_kwargs: whether the function also has a `**kwargs`.
    """

    names: tuple[str, ...]
    required: frozenset[str]
    has_kwargs: bool

    def accepts(self, name: str) -> bool:
        """Whether `name` is a declared argument."""
        return name in self.names


def arguments_of(function: Callable[..., Any]) -> Parameters:
    """Looks up what `function` can be called with.

    Arguments that a `functools.partial` has bound are left out: in `partial(model_fn, params=mine)`, `mine` wins over
    what the Estimator would pass.
    """
    if isinstance(function, functools.partial):
        inner = arguments_of(function.func)
        unbound = [name for name in inner.names[len(function.args) :] if name not in function.keywords]
        return Parameters(tuple(unbound), inner.required.intersection(unbound), inner.has_kwargs)
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a C function without a signature: pass it nothing optional
        return Parameters((), frozenset(), has_kwargs=False)
    named = [parameter for parameter in parameters if parameter.kind in _BY_NAME]
    return Parameters(
        names=tuple(parameter.name for parameter in named),
        required=frozenset(p.name for p in named if p.default is inspect.Parameter.empty),
        has_kwargs=any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters),
    )


def name_of(function: Callable[..., Any]) -> str:
    """A name for `function` that its author recognises in a message."""
    while isinstance(function, functools.partial):
        function = function.func
    name: str = getattr(function, "__qualname__", None) or type(function).__qualname__
    return name.rpartition("<locals>.")[2]
