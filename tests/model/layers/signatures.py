"""The signatures of a module of layers, in a form that two TensorFlow versions can agree on."""

from __future__ import annotations

import inspect
from typing import Any


def signatures(layers: Any) -> dict[str, list[str]]:
    """Arguments with their defaults, by the name of the function or class."""
    found = {}
    for name in sorted(dir(layers)):
        member = getattr(layers, name)
        if name.startswith("_") or not callable(member):
            continue
        parameters = inspect.signature(member.__init__ if inspect.isclass(member) else member).parameters.values()
        found[name] = [_shown(parameter) for parameter in parameters]
    return found


def _shown(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return f"{'**' if parameter.kind is parameter.VAR_KEYWORD else ''}{parameter.name}"
    default = parameter.default
    return f"{parameter.name}={type(default).__name__ if hasattr(default, 'get_config') else repr(default)}"
