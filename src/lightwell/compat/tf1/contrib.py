"""`tf.contrib`: the names that exist elsewhere; every other name raises an error that says what to use.

Built from the table of `lightwell.compat.retired`: one page per namespace (`tf.contrib.rnn`, ...), and one per private
module that a program imports (`tensorflow.contrib.layers.python.layers.utils`). Importing a page always works, because
programs import more than they use; using an absent name raises.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NoReturn

from lightwell.base.lazy import refuse, resolve
from lightwell.compat.retired import CONTRIB, contrib_hint, living_names, written_for_slim

_PRIVATE = "python"


class ContribPage(ModuleType):
    """A namespace of `tf.contrib`, a private module below it, or a name that was imported from such a module."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{__name__.rpartition('.')[0]}.{path}", f"What is left of tf.{path}.")
        _, self._namespace, *self.below = path.split(".")
        self._path = path

    def child(self, name: str) -> ContribPage:
        """The page of a module below this one."""
        page = ContribPage(f"{self._path}.{name}")
        setattr(self, name, page)
        return page

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":  # looked up on first use: it loads the package that continues the namespace
            return self.__dir__()
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)
        cell = CONTRIB[self._namespace].get(name, "!")
        if not cell.startswith("!"):
            return self._moved(name, cell)
        modules_of_package = _continuing_modules(self._namespace, self.below)
        for module in modules_of_package:
            value = _attribute_or_submodule(module, name)
            if value is not None:
                return value
        return refuse(contrib_hint(f"{self._path}.{name}", installed=bool(modules_of_package)), self.__name__, name)

    def __dir__(self) -> list[str]:
        modules = _continuing_modules(self._namespace, self.below)
        continued = (name for module in modules for name in dir(module) if not name.startswith("_"))
        return sorted({*living_names(self._namespace), *continued})

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AttributeError(contrib_hint(self._path), name=self._path)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> NoReturn:
        """Python calls this when a class derives from the page."""
        raise AttributeError(contrib_hint(self._path), name=self._path)

    def _moved(self, name: str, target: str) -> Any:
        try:
            return resolve(target)
        except (AttributeError, ImportError):  # it became a part of tf.estimator that is not here
            return refuse(contrib_hint(f"{self._path}.{name}"), self.__name__, name)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    if name not in CONTRIB:
        refuse(contrib_hint(f"contrib.{name}"), __name__, name)
    page = ContribPage(f"contrib.{name}")
    globals()[name] = page
    return page


def __dir__() -> list[str]:
    return sorted(name for name in CONTRIB if living_names(name))


def import_below(namespace: str, path: Sequence[str], names: Sequence[str] = ()) -> Any:
    """The module for `from tensorflow.contrib.<namespace>.<path> import <names>`.

    A module that is imported by its path becomes a page, and so does a name from a private module: it may be a module.

    Raises:
        AttributeError: there was no such namespace.
    """
    module: Any = globals().get(namespace) or __getattr__(namespace)
    for part in path:
        module = _module_below(module, part)
    for name in names:
        if not isinstance(module, ContribPage):
            _attribute_or_submodule(module, name)
        elif module.below:
            _module_below(module, name)
    return module


def _module_below(parent: Any, name: str) -> Any:
    if isinstance(parent, ContribPage):
        is_folder = name == _PRIVATE or parent.below == [_PRIVATE]
        known = name in vars(parent) or (not is_folder and hasattr(parent, name))
        return getattr(parent, name) if known else parent.child(name)
    value = _attribute_or_submodule(parent, name)
    return getattr(parent, name) if value is None else value


def _continuing_modules(namespace: str, below: Sequence[str]) -> list[Any]:
    """The modules of an installed package that have the names of a namespace, or of a private module below it."""
    cell = CONTRIB[namespace].get("", "")
    package = cell[1:].partition(" ")[0]
    if not cell.startswith("?") or importlib.util.find_spec(package.partition(".")[0]) is None:
        return []
    module = _imported(package)
    modules = [module]
    # contrib/slim/python/slim/nets: the folder behind `python` has the name of the namespace, or is called `ops`.
    for part in below[2:]:
        module = _attribute_or_submodule(module, part)
        if not isinstance(module, ModuleType):
            break
        modules.append(module)
    return modules


def _attribute_or_submodule(module: Any, name: str) -> Any:
    """None where a module has neither."""
    if hasattr(module, name) or not hasattr(module, "__path__"):
        return getattr(module, name, None)
    child = f"{module.__name__}.{name}"
    return _imported(child) if importlib.util.find_spec(child) else None


def _imported(name: str) -> Any:
    """Import a module of a package that continues a namespace."""
    if name.partition(".")[0] != "tf_slim":
        return importlib.import_module(name)
    from lightwell.compat.contrib.slim.mended import imported

    return imported(name, written_for_slim())
