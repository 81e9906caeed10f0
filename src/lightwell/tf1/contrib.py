"""What is left of `tf.contrib`: the names that live on elsewhere; every other one says what to use instead.

Takes the table of `lightwell.compat.retired`; gives one small page per namespace (`tf.contrib.rnn`, ...).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from lightwell._lazy import refuse, resolve
from lightwell.compat.retired import CONTRIB, contrib_hint


def __getattr__(name: str) -> Any:
    cells = CONTRIB.get(name, {})
    if name.startswith("__") or not any(map(_lives_on, cells.values())):
        refuse(contrib_hint(f"contrib.{name}"), __name__, name)
    page = _page(name, cells)
    globals()[name] = page
    return page


def __dir__() -> list[str]:
    return sorted(name for name, cells in CONTRIB.items() if any(map(_lives_on, cells.values())))


def _lives_on(cell: str) -> bool:
    return not cell.startswith("!")


def _page(namespace: str, cells: Mapping[str, str]) -> ModuleType:
    page = ModuleType(f"{__name__}.{namespace}", f"What is left of tf.contrib.{namespace}.")
    found = {name: cell for name, cell in cells.items() if _lives_on(cell)}

    def page_getattr(name: str) -> Any:
        if name not in found:
            refuse(contrib_hint(f"contrib.{namespace}.{name}"), page.__name__, name)
        return resolve(found[name])

    vars(page)["__getattr__"] = page_getattr
    vars(page)["__dir__"] = lambda: sorted(found)
    vars(page)["__all__"] = sorted(found)
    return page
