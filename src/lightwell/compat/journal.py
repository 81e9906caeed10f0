"""A journal of changes to modules and classes of other packages, so that they can be undone.

Holds the only writes to foreign modules and classes. It restores in reverse order, and leaves alone what somebody else
has replaced since.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

_MISSING = object()


@dataclass(frozen=True)
class _Change:
    module: Any  # or a class
    attribute: str
    before: Any
    ours: Any
    was_public: bool


class Journal:
    """A list of changes that can be undone."""

    def __init__(self) -> None:
        self._changes: list[_Change] = []
        self._on_restore: list[Callable[[], None]] = []

    def set(self, module: Any, attribute: str, value: Any) -> None:
        """Set an attribute, and record its old value."""
        self.expect(module, attribute, value)
        setattr(module, attribute, value)

    def has_set(self, module: Any, attribute: str) -> bool:
        """Whether this attribute was set through the journal."""
        return any(change.module is module and change.attribute == attribute for change in self._changes)

    def expect(self, module: Any, attribute: str, value: Any) -> None:
        """Record the present value, because the import system is about to set `value`."""
        # Read from the dict: `getattr` would load a lazy module.
        space = vars(module)
        public = attribute in space.get("__all__", ())
        self._changes.append(_Change(module, attribute, space.get(attribute, _MISSING), value, public))

    def on_restore(self, undo: Callable[[], None]) -> None:
        """Record what `restore` calls, for a change that is no attribute."""
        self._on_restore.append(undo)

    def restore(self) -> None:
        """Put everything back."""
        while self._on_restore:
            self._on_restore.pop()()
        for change in reversed(self._changes):
            _undo(change)
        for loader in _lazy_loaders():
            self._forget_copies(loader)
        self._changes.clear()

    def _forget_copies(self, loader: ModuleType) -> None:
        """Remove our values from a lazy loader, which copies the dict of its module when it loads."""
        space = vars(loader)
        for change in self._changes:
            if space.get(change.attribute) is change.ours:
                del space[change.attribute]


def _undo(change: _Change) -> None:
    space = vars(change.module)
    if space.get(change.attribute, _MISSING) is not change.ours:
        return
    if change.before is _MISSING:
        delattr(change.module, change.attribute)
    else:
        setattr(change.module, change.attribute, change.before)
    # TensorFlow's module wrapper lists in `__all__` whatever is set on it.
    public = space.get("__all__", [])
    if not change.was_public and change.attribute in public:
        public.remove(change.attribute)


def _lazy_loaders() -> list[ModuleType]:
    """TensorFlow's lazy stand-ins for Keras, wherever a module of its API holds one."""
    loaders: list[ModuleType] = []
    for name, module in sys.modules.copy().items():
        if name.split(".")[0] == "tensorflow" and isinstance(module, ModuleType):
            loaders += [value for value in vars(module).values() if type(value).__name__.endswith("LazyLoader")]
    return loaders
