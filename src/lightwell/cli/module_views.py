"""Modules as a program of their time saw them: the module itself, and names that it has lost since.

A program's own modules get a view in the place of the module; installed packages get the module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


class ModuleView(ModuleType):
    """A module with more names. Whatever is set on it is set on the module, as programs patch modules.

    Args:
        module: the module that is there today.
        names: the names that it lacks, or that meant something else: name -> function that returns the value.
    """

    def __init__(self, module: ModuleType, names: Mapping[str, Callable[[], Any]]) -> None:
        super().__init__(module.__name__, module.__doc__)
        hidden = vars(self)
        hidden.update(
            {name: vars(module)[name] for name in ("__file__", "__path__", "__spec__") if name in vars(module)}
        )
        hidden["_viewed_module"], hidden["_more_names"] = module, names

    def __getattr__(self, name: str) -> Any:
        own = vars(self)
        if name in own["_more_names"]:
            value = own["_more_names"][name]()
            own[name] = value
            return value
        return getattr(own["_viewed_module"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        vars(self).pop(name, None)
        setattr(vars(self)["_viewed_module"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(vars(self)["_viewed_module"], name)

    def __dir__(self) -> list[str]:
        return sorted({*dir(vars(self)["_viewed_module"]), *vars(self)["_more_names"]})
