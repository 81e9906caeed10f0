"""Temporary replacements of attributes of TensorFlow's and Keras' classes and modules.

Several threads may build models at the same time: with `SharedPatches` the first one replaces, the last one restores.
A replacement must check whether it applies: other threads, and code of other graphs, call it too.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import os
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

_ABSENT = object()
Replacement = tuple[str, Any, Any]


class Patches:
    """Replaced attributes, in order; `undo` restores them in reverse, except those that other code has set since."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any, Any]] = []
        self._preserved: list[tuple[Any, str, Any]] = []
        self._wrappers: dict[Any, Any] = {}
        self._previous_wrappers: dict[Any, Any] = {}

    def put(self, owner: Any, name: str, value: Any) -> None:
        """Sets `owner.name`; an attribute that `owner` only inherits is removed again by `undo`."""
        self._replaced.append((owner, name, vars(owner).get(name, _ABSENT), value))
        setattr(owner, name, value)

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replaces `owner.name` by `make(owner.name)`."""
        self.put(owner, name, self.wrapped(make, getattr(owner, name)))

    def wrapped(self, make: Callable[[Any], Any], original: Any) -> Any:
        """`make(original)`, or the wrapper of the same two from the last time; `make` may be a `partial`."""
        key = (make.func, make.args, original) if isinstance(make, functools.partial) else (make, original)
        cached = self._previous_wrappers.get(key)
        self._wrappers[key] = make(original) if cached is None else cached
        return self._wrappers[key]

    def preserve(self, owner: Any, name: str) -> None:
        """Remembers `owner.name`, which `undo` restores even if other code has set it since."""
        self._preserved.append((owner, name, getattr(owner, name)))

    def put_everywhere(self, replacements: Iterable[Replacement]) -> None:
        """Replaces functions in every loaded module that holds them under their name.

        `tf.compat.v1` and `import tensorflow.compat.v1` are two modules, and `from tensorflow.compat.v1.nn import
        dynamic_rnn` leaves the name in any module of the program.

        Args:
            replacements: (name, function, replacement) of each function.
        """
        listed = list(replacements)
        for module_name in _holders([(name, original) for name, original, _ in listed]):
            module = sys.modules.get(module_name)
            if module is not None:
                for name, original, ours in listed:
                    if vars(module).get(name) is original:
                        self.put(module, name, ours)

    def undo(self) -> None:
        while self._replaced:
            owner, name, before, ours = self._replaced.pop()
            if vars(owner).get(name, _ABSENT) is not ours:
                continue
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
        while self._preserved:
            owner, name, before = self._preserved.pop()
            if getattr(owner, name) != before:
                setattr(owner, name, before)
        self._previous_wrappers, self._wrappers = self._wrappers, {}


_INSTALLED = tuple({sysconfig.get_path(kind) + os.sep for kind in ("stdlib", "platstdlib", "purelib", "platlib")})
# Functions -> the modules that were loaded at the last search for them, and the names of those that hold one.
_holder_cache: dict[tuple[tuple[str, Any], ...], tuple[dict[str, Any], list[str]]] = {}


def _holders(functions: Sequence[tuple[str, Any]]) -> list[str]:
    """The names of loaded modules that may hold one of the functions under its name.

    Searching thousands of modules takes milliseconds, so the result is cached until other modules are loaded, and then
    those of installed packages are not searched again. The main module is always included: a notebook's next cell may
    import a name without loading a module.
    """
    # `copy` is atomic: another thread may import something meanwhile.
    key, loaded = tuple(functions), sys.modules.copy()
    before, names = _holder_cache.get(key, ({}, []))
    if not _are_the_same(before, loaded):
        function_names, held = {name for name, _ in functions}, set(names)
        names = [
            name
            for name, module in loaded.items()
            if (
                name in held
                if before.get(name) is module and is_installed(name.partition(".")[0])
                else _holds_any(module, functions, function_names)
            )
        ]
        names.append("__main__")
        # A module that another thread is importing has yet to gain its names: it is searched again.
        complete = {name: module for name, module in loaded.items() if not _is_being_imported(module)}
        _holder_cache[key] = (complete, names)
    return names


@functools.cache
def is_installed(package: str) -> bool:
    """Whether a package is not part of the program, so that its modules gain no names once they are loaded."""
    if package == "__main__":
        return False
    file = getattr(sys.modules.get(package), "__file__", None) or ""
    return any(file.startswith(folder) for folder in _INSTALLED)


def _is_being_imported(module: Any) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def _are_the_same(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether two tables hold the same modules under the same names."""
    return len(before) == len(now) and all(map(operator.is_, before.values(), now.values())) and [*before] == [*now]


def _holds_any(module: Any, functions: Sequence[tuple[str, Any]], function_names: set[str]) -> bool:
    if not isinstance(module, ModuleType):
        return False
    names = vars(module)
    if names.keys().isdisjoint(function_names):  # true for nearly all modules, and fast
        return False
    return any(names.get(name) is function for name, function in functions)


class SharedPatches:
    """Replacements that are in place while at least one `applied()` block is open."""

    def __init__(self, plan: Callable[[Patches], None]) -> None:
        self._plan = plan
        self._lock = threading.Lock()
        self._users = 0
        self._patches = Patches()

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        with self._lock:
            if self._users == 0:
                self._apply()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._patches.undo()

    def _apply(self) -> None:
        try:
            self._plan(self._patches)
        except BaseException:
            self._patches.undo()
            raise
