"""`install()` puts `tf.estimator` and its companions back where old programs look for them; `uninstall()` undoes it.

The state is one finder in `sys.meta_path`, the open doors. Nothing is imported that the program does not import itself:
if TensorFlow is not loaded yet, it gets its attributes at the end of its own import.
"""

from __future__ import annotations

import sys
import threading
from types import ModuleType, TracebackType

from lightwell.compat.finder import OldNames
from lightwell.compat.journal import Journal
from lightwell.compat.names import doors_of, is_removed, page_for

_LOCK = threading.RLock()


class _OpenDoors(OldNames):
    """The finder, with the journal that undoes it and the number of its holders."""

    def __init__(self) -> None:
        self.journal = Journal()
        self.holders = 0
        self.covered: dict[str, ModuleType] = {}
        super().__init__(self.journal)

    def open(self) -> None:
        # Modules of an installed tensorflow_estimator leave sys.modules until the doors close.
        self.covered = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_ours(name)}
        sys.meta_path.insert(0, self)
        for name in list(sys.modules):
            if doors_of(name):
                self.loaded(name)

    def close(self) -> None:
        sys.meta_path.remove(self)
        self.journal.restore()
        for name in [name for name in sys.modules if _is_ours(name)]:
            del sys.modules[name]
        sys.modules.update(self.covered)


class Installed:
    """The handle of one `install()`. A context manager: leaving it calls `uninstall`."""

    def __init__(self, doors: _OpenDoors) -> None:
        self._doors: _OpenDoors | None = doors

    @property
    def active(self) -> bool:
        """Whether the doors are open and this handle holds them open."""
        return self._doors is not None and self._doors in sys.meta_path

    def uninstall(self) -> None:
        """Release the doors. When the last holder releases them, they close and everything is as before."""
        with _LOCK:
            doors, self._doors = self._doors, None
            if doors is None or doors not in sys.meta_path:
                return
            doors.holders -= 1
            if doors.holders == 0:
                doors.close()

    def __enter__(self) -> Installed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.uninstall()

    def __repr__(self) -> str:
        return f"<Installed: {'active' if self.active else 'undone'}>"


def install() -> Installed:
    """Put `tf.estimator`, `tf.compat.v1.estimator`, `tf.compat.v1.layers`, `tf.compat.v1.nn.rnn_cell` and every import
    spelling of the removed package back.

    Calling it again is harmless: each handle counts as one holder, and the doors stay open until all are released.

    Returns:
        A handle; its `uninstall()` restores the state before.
    """
    with _LOCK:
        doors = _open_doors()
        if doors is None:
            doors = _OpenDoors()
            doors.open()
        doors.holders += 1
        return Installed(doors)


def uninstall() -> None:
    """Close the doors for all holders. Earlier handles become inactive. Harmless when the doors are closed."""
    with _LOCK:
        doors = _open_doors()
        if doors is not None:
            doors.close()


def _open_doors() -> _OpenDoors | None:
    return next((finder for finder in sys.meta_path if isinstance(finder, _OpenDoors)), None)


def _is_ours(module_name: str) -> bool:
    return page_for(module_name) is not None or is_removed(module_name)
