"""One `arg_scope` for the functions written here and those of `tf_slim`, which keeps scopes of its own.

A function of `tf.contrib` has one key here, `contrib:conv2d`, whether ours is called or `tf_slim`'s. Scopes that
`tf_slim` made (those of its nets) are read with these keys; and while a scope of ours holds, `tf_slim` holds it too.
Nothing is done where that package is not loaded.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

_PACKAGE = "tf_slim"
_HERE = "lightwell.contrib."
_SIGN = "contrib:"


def key_of(func: Any) -> str:
    """What stands in scopes for a function that takes defaults."""
    is_ours = str(getattr(func, "__module__", "")).startswith(_HERE)
    return f"{_SIGN}{func.__name__}" if is_ours else str(func)


def our_key(key: str) -> str:
    """The key here of a function that has `key` in `tf_slim`; any other key is left as it is."""
    return _keys().get(key, key)


def ours_of(scope: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """A scope with the keys that functions have here."""
    names = _keys()
    return {names.get(key, key): dict(arguments) for key, arguments in scope.items()}


def holding(scope: Mapping[str, dict[str, Any]]) -> AbstractContextManager[Any]:
    """While the block runs, `tf_slim` takes the defaults of `scope`, where it is loaded."""
    names = {ours: theirs for theirs, ours in _keys().items()}
    if not names:
        return contextlib.nullcontext()
    theirs = {names.get(key, key): dict(arguments) for key, arguments in scope.items()}
    held: AbstractContextManager[Any] = sys.modules[_PACKAGE].arg_scope(theirs)
    return held


def _keys() -> dict[str, str]:
    """The keys of the functions of `tf_slim`, and which they have here."""
    package = sys.modules.get(_PACKAGE)
    if package is None or not hasattr(package, "arg_scope"):
        return {}
    found: list[Any] = [getattr(package, name, None) for name in dir(package)]
    return {one._key_op: f"{_SIGN}{one.__name__}" for one in found if getattr(one, "_key_op", None)}
