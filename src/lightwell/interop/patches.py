"""Attributes of other packages' classes, replaced for a while and put back.

Owns `SharedPatches`: several threads may build models at the same time, the first one replaces, the last one restores.
What is put in place must ask for itself whether it is meant (see `trace.active_trace`); nothing here knows Keras.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

_ABSENT = object()


class Patches:
    """Replaced attributes, in order; `undo` restores them in reverse."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any]] = []

    def put(self, owner: Any, name: str, value: Any) -> None:
        """Sets `owner.name`; an attribute that `owner` only inherits is removed again by `undo`."""
        self._replaced.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replaces `owner.name` by `make(what is there now)`."""
        self.put(owner, name, make(getattr(owner, name)))

    def undo(self) -> None:
        while self._replaced:
            owner, name, before = self._replaced.pop()
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)


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
