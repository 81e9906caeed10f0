"""`arg_scope`: default arguments of layer functions, for a `with` block.

Owns the current scope, a mapping from a function's key to its defaults. The functions of
`tf_slim` read it too, once that package was reached through `tf.contrib` (`lightwell.compat.contrib.slim`).
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lightwell.compat.contrib.framework import slim_scopes
from lightwell.errors import UsageError, WrongType

Scope = dict[str, dict[str, Any]]

# The defaults that hold now. A matter of the running code: each thread has its own.
_current: contextvars.ContextVar[Scope | None] = contextvars.ContextVar("lightwell_arg_scope", default=None)
_ARGUMENTS: dict[str, tuple[str, ...]] = {}


def add_arg_scope(func: Callable[..., Any]) -> Callable[..., Any]:
    """Lets `func` take default arguments from `arg_scope`.

    @add_arg_scope
    def block(inputs, depth, activation_fn=None): ...

    with arg_scope([block], activation_fn=tf.nn.relu):
        net = block(net, 64)
    """
    key = slim_scopes.key_of(func)

    @functools.wraps(func)
    def with_defaults(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **{**(_current.get() or {}).get(key, {}), **kwargs})

    with_defaults._key_op = key  # type: ignore[attr-defined]
    parameters = inspect.signature(func).parameters.values()
    _ARGUMENTS[key] = tuple(one.name for one in parameters if one.default is not one.empty)
    return with_defaults


@contextlib.contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Scope]:
    """Sets default arguments of functions for a `with` block.

    Args:
        list_ops_or_scope: functions that are decorated with `add_arg_scope`; or a scope that a `with` block returned,
            to be entered again.
        **kwargs: the defaults.

    Raises:
        WrongType: the first argument is neither.
        UsageError: a function does not take defaults, or a scope comes with more arguments.
    """
    scope = _entered_again(list_ops_or_scope, kwargs) if isinstance(list_ops_or_scope, Mapping) else None
    if scope is None:
        scope = _extended(list_ops_or_scope, kwargs)
    token = _current.set(scope)
    try:
        yield scope
    finally:
        _current.reset(token)


def current_arg_scope() -> Scope:
    """The defaults that hold now, by the functions' keys."""
    return {key: dict(arguments) for key, arguments in (_current.get() or {}).items()}


def has_arg_scope(func: Any) -> bool:
    """Whether a function takes default arguments from `arg_scope`."""
    return getattr(func, "_key_op", None) is not None


def arg_scoped_arguments(func: Any) -> tuple[str, ...]:
    """The arguments of a decorated function that have defaults."""
    if not has_arg_scope(func):
        raise UsageError(f"{_told(func)} is not decorated with @add_arg_scope.")
    return _ARGUMENTS[arg_scope_func_key(func)]


def arg_scope_func_key(op: Any) -> str:
    """What stands for a function in a scope."""
    return slim_scopes.our_key(str(getattr(op, "_key_op", op)))


def _entered_again(scope: Mapping[str, Any], more: Mapping[str, Any]) -> Scope:
    if more:
        raise UsageError(
            f"arg_scope: When attempting to re-use a scope by suppling a dictionary, kwargs must be empty; got "
            f"{sorted(more)}. Enter the scope first, and a list of functions with these arguments inside of it."
        )
    return slim_scopes.ours_of({str(key): dict(arguments) for key, arguments in scope.items()})


def _extended(functions: Any, arguments: Mapping[str, Any]) -> Scope:
    if not isinstance(functions, list | tuple):
        raise WrongType(
            "arg_scope: list_ops_or_scope must either be a list/tuple of functions or reused scope (i.e. dict); got "
            f"{type(functions).__name__}. Write arg_scope([function], ...)."
        )
    scope = current_arg_scope()
    for function in functions:
        if not has_arg_scope(function):
            raise UsageError(
                f"arg_scope: {_told(function)} is not decorated with @add_arg_scope. Decorate it, or leave it out of "
                "the list."
            )
        key = arg_scope_func_key(function)
        scope[key] = {**scope.get(key, {}), **arguments}
    return scope


def _told(function: Any) -> str:
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__name__', function)}"
