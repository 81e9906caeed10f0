"""A release of tomorrow: an installed package in whose sources names have been changed before they are imported."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any


class _Renamed(SourceFileLoader):
    def __init__(self, fullname: str, path: str, names: Mapping[str, str]) -> None:
        super().__init__(fullname, path)
        self._names = names

    def get_code(self, fullname: str) -> Any:  # past the cache of compiled modules
        text = self.get_data(self.path).decode()
        for old, new in self._names.items():
            text = re.sub(rf"\b{re.escape(old)}\b", new, text)
        return compile(text, self.path, "exec", dont_inherit=True)


class Release:
    """A finder that renames in the modules of a package."""

    def __init__(self, package: str, names: Mapping[str, str]) -> None:
        self._package = package
        self._names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._package and not fullname.startswith(f"{self._package}."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader) and spec.origin is not None:
            spec.loader = _Renamed(fullname, spec.origin, self._names)
        return spec


def rename(package: str, **names: str) -> None:
    """From now on modules of `package` are imported with other names in them."""
    sys.meta_path.insert(0, Release(package, names))  # type: ignore[arg-type]
