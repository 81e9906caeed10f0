"""Attributes of other packages' classes and modules, replaced for a while and put back.

Owns `SharedPatches`: several threads may build models at the same time, the first one replaces, the last one restores.
What is put in place must ask for itself whether it is meant: another thread, or another graph, may call it meanwhile.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

_ABSENT = object()
StandIn = tuple[str, Any, Any]


class Patches:
    """Replaced attributes, in order; `undo` restores them in reverse, but those that somebody else has set since."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any, Any]] = []
        self._kept: list[tuple[Any, str, Any]] = []
        self._made: dict[Any, Any] = {}
        self._made_before: dict[Any, Any] = {}

    def put(self, owner: Any, name: str, value: Any) -> None:
        """Sets `owner.name`; an attribute that `owner` only inherits is removed again by `undo`."""
        self._replaced.append((owner, name, vars(owner).get(name, _ABSENT), value))
        setattr(owner, name, value)

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replaces `owner.name` by `make(what is there now)`."""
        self.put(owner, name, self.made(make, getattr(owner, name)))

    def made(self, make: Callable[[Any], Any], original: Any) -> Any:
        """`make(original)`: a function, or a `partial` of one; what it made of the same the last time serves again."""
        key = (make.func, make.args, original) if isinstance(make, functools.partial) else (make, original)
        found = self._made_before.get(key)
        self._made[key] = make(original) if found is None else found
        return self._made[key]

    def keep(self, owner: Any, name: str) -> None:
        """Remembers `owner.name`, which `undo` restores, whoever has set it since."""
        self._kept.append((owner, name, getattr(owner, name)))

    def put_everywhere(self, stand_ins: Iterable[StandIn]) -> None:
        """Replaces functions in every loaded module that holds them under their name.

        `tf.compat.v1` and `import tensorflow.compat.v1` are two modules, and `from tensorflow.compat.v1.nn import
        dynamic_rnn` leaves the name in any module of the program.

        Args:
            stand_ins: (name, function, what takes its place).
        """
        wanted = list(stand_ins)
        for module_name in _holders([(name, original) for name, original, _ in wanted]):
            module = sys.modules.get(module_name)
            if module is not None:
                for name, original, ours in wanted:
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
        while self._kept:
            owner, name, before = self._kept.pop()
            if getattr(owner, name) != before:
                setattr(owner, name, before)
        self._made_before, self._made = self._made, {}


# Functions -> the modules that were loaded when they were last looked for, and the names of those that hold one.
_found: dict[tuple[tuple[str, Any], ...], tuple[dict[str, Any], list[str]]] = {}


def _holders(functions: Sequence[tuple[str, Any]]) -> list[str]:
    """The names of loaded modules that may hold one of the functions under its name.

    To look into thousands of modules takes milliseconds, so it is done again only when others have been loaded. The
    main module is always among them: a notebook's next cell may import a name without loading anything.
    """
    # A copy, which is made in one go: a thread may import something meanwhile, also while a list is being made.
    key, loaded = tuple(functions), sys.modules.copy()
    before, names = _found.get(key, ({}, []))
    if not _are_the_same(before, loaded):
        wanted = {name for name, _ in functions}
        names = [name for name, module in loaded.items() if _holds_any(module, functions, wanted)]
        names.append("__main__")
        _found[key] = (loaded, names)
    return names


def _are_the_same(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether two tables hold the same modules under the same names; one may have come in the place of another."""
    return len(before) == len(now) and all(map(operator.is_, before.values(), now.values())) and [*before] == [*now]


def _holds_any(module: Any, functions: Sequence[tuple[str, Any]], wanted: set[str]) -> bool:
    if not isinstance(module, ModuleType):
        return False
    names = vars(module)
    if names.keys().isdisjoint(wanted):  # so it is with nearly all, and this asks faster than one by one
        return False
    return any(names.get(name) is function for name, function in functions)


class SharedPatches:
    """One plan of replacements, applied while at least one `applied()` block is open."""

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
