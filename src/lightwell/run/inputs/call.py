"""Calls `input_fn` with those of `mode`, `params` and `config` that are among its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.base.callables import arguments_of, name_of
from lightwell.errors import InputFnError, WrongType

_KNOWN = ("mode", "params", "config")
# Passed only where a strategy runs the model.
_CONTEXT = "input_context"


def check_input_fn(input_fn: Any) -> None:
    """Fails early on an `input_fn` that cannot be called without arguments of its own.

    Raises:
        WrongType: not a function.
        InputFnError: it needs an argument that no caller passes.
    """
    if not callable(input_fn):
        raise WrongType(
            f"input_fn must be a function that returns the input, got {type(input_fn).__name__}. "
            "Wrap what you have: input_fn=lambda: ..., so that it is built in the right graph."
        )
    unknown = sorted(arguments_of(input_fn).required.difference(_KNOWN, [_CONTEXT]))
    if unknown:
        name = name_of(input_fn)
        raise InputFnError(
            f"input_fn {name!r} needs the arguments {unknown}; it can be given {list(_KNOWN)} only. Bind the others: "
            f"lambda: {name if name.isidentifier() else 'input_fn'}({unknown[0]}=...)."
        )


def call_input_fn(
    input_fn: Callable[..., Any], *, mode: str, params: Any, config: Any, input_context: Any = None
) -> Any:
    """Calls `input_fn` with the arguments it takes and returns its result unchanged.

    Raises:
        InputFnError: it needs an `input_context`, and there is no strategy.
    """
    check_input_fn(input_fn)
    available = {"mode": mode, "params": params, "config": config}
    takes = arguments_of(input_fn)
    if input_context is not None:
        available[_CONTEXT] = input_context
    elif _CONTEXT in takes.required:
        raise InputFnError(
            f"input_fn {name_of(input_fn)!r} needs input_context, which is given under a distribution strategy only, "
            f"and mode {mode!r} has none. Give it a default, input_context=None, or set a strategy in RunConfig."
        )
    return input_fn(**{name: value for name, value in available.items() if takes.accepts(name)})


def in_scope(input_fn: Callable[..., Any], scope: str) -> Callable[..., Any]:
    """A function with the parameters and the result of `input_fn`, which builds below a name scope."""

    def scoped(**arguments: Any) -> Any:
        with tf.name_scope(scope):
            return input_fn(**arguments)

    return _with_signature_of(scoped, input_fn)


def changed(input_fn: Callable[..., Any], change: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function with the parameters of `input_fn` that returns `change` of its result."""

    def with_change(**arguments: Any) -> Any:
        return change(input_fn(**arguments))

    return _with_signature_of(with_change, input_fn)


def _with_signature_of(function: Any, input_fn: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a function of keywords the signature and the name of an `input_fn`."""
    takes = arguments_of(input_fn)
    kind, no_default = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty
    function.__signature__ = inspect.Signature(
        [inspect.Parameter(name, kind, default=no_default if name in takes.required else None) for name in takes.names]
    )
    function.__qualname__ = name_of(input_fn)
    return function
