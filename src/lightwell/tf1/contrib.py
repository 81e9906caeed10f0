"""What is left of `tf.contrib`: the names that live on elsewhere; every other one says what to use instead.

Takes the table of `lightwell.compat.retired`; gives one small page per namespace (`tf.contrib.rnn`, ...).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from lightwell._lazy import refuse, resolve
from lightwell.compat.retired import CONTRIB, contrib_hint


def __getattr__(name: str) -> Any:
    cells = CONTRIB.get(name, {})
    page = _successor(cells.get("", "")) or _page(name, cells)
    if name.startswith("__") or page is None:
        refuse(contrib_hint(f"contrib.{name}"), __name__, name)
    globals()[name] = page
    return page


def __dir__() -> list[str]:
    return sorted(name for name, cells in CONTRIB.items() if _named(cells))


def _successor(cell: str) -> ModuleType | None:
    """The package that carries a whole namespace on, if it is installed."""
    package = cell[1:].partition(" ")[0]
    return importlib.import_module(package) if cell.startswith("?") and importlib.util.find_spec(package) else None


def _named(cells: Mapping[str, str]) -> dict[str, str]:
    return {name: cell for name, cell in cells.items() if name}


def _page(namespace: str, cells: Mapping[str, str]) -> ModuleType | None:
    """A namespace some of whose names are known; those that are gone say so when they are used, not at import."""
    if not _named(cells):
        return None
    page = ModuleType(f"{__name__}.{namespace}", f"What is left of tf.contrib.{namespace}.")
    found = {name: cell for name, cell in _named(cells).items() if not cell.startswith("!")}

    def page_getattr(name: str) -> Any:
        if name not in found:
            refuse(contrib_hint(f"contrib.{namespace}.{name}"), page.__name__, name)
        return resolve(found[name])

    vars(page)["__getattr__"] = page_getattr
    vars(page)["__dir__"] = lambda: sorted(found)
    vars(page)["__all__"] = sorted(found)
    return page
