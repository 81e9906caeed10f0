"""Read by Python as it starts, in the processes of `tests/children.py`: TensorFlow is loaded in two seconds, not six.

Keras loads scikit-learn, matplotlib and pandas for its own wrappers, pictures and frames, where they are installed.
Keras alone is told that they are not: no test gives it a frame or lets it draw in another process, and Lightwell asks
nothing of Keras that needs them. Imports of all others, Lightwell and the programs of the tests, find them as always.

What an import makes stays, so the collector of garbage need not go through it: `tests/conftest.py` says the same to the
process of the tests. All that is made later is collected as always.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_OPTIONAL = ("sklearn", "matplotlib", "pandas")


class _LeanImports:
    """Finds TensorFlow where it is, and hides from Keras what it can do without."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name in _OPTIONAL and _importer().startswith("keras."):
            raise ModuleNotFoundError(f"No module named {name!r} for Keras, see {__file__}", name=name)
        if name != "tensorflow":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _WithoutCollections(spec.loader)  # type: ignore[assignment]
        return spec


class _WithoutCollections:
    """Loads a module as its own loader does, and leaves that loader to it."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        gc.disable()
        try:
            self._loader.exec_module(module)
            gc.freeze()
        finally:
            gc.enable()


def _importer() -> str:
    """The module whose import statement is being carried out."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("importlib."):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


sys.meta_path.insert(0, _LeanImports)  # type: ignore[arg-type]
