"""One key in scopes for each function of `tf.contrib`, whether ours is called or that of `tf_slim`.

That package knows its functions by other keys; where it is loaded, they are read as ours (`contrib:convolution2d`).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

_PACKAGE = "tf_slim"
_HERE = "lightwell.compat.contrib."
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


def _keys() -> dict[str, str]:
    """The keys of the functions of `tf_slim`, and which they have here."""
    package = sys.modules.get(_PACKAGE)
    if package is None or not hasattr(package, "arg_scope"):
        return {}
    found: list[Any] = [getattr(package, name, None) for name in dir(package)]
    return {one._key_op: f"{_SIGN}{one.__name__}" for one in found if getattr(one, "_key_op", None)}
