"""Public pages whose names are looked up on first use.

Owns the one way a Lightwell module offers names without importing what stands behind them. Takes a table of
`name -> "module:attribute"`; gives the three module-level names that Python asks a module for: `__getattr__`, `__dir__`
and `__all__`. Imports nothing heavy, so a page costs nothing until somebody turns it.

    __getattr__, __dir__, __all__ = lazy_names(__name__, {"Estimator": "lightwell.estimator.core:Estimator"})
"""

from __future__ import annotations

import difflib
import importlib
import opcode
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any, NoReturn

_PACKAGE = os.path.join(os.path.dirname(__file__), "")


def resolve(target: str) -> Any:
    """Import what a target names: `"a.b"` is the module, `"a.b:c.d"` the attribute `d` of its attribute `c`."""
    module_name, _, attributes = target.partition(":")
    found: Any = importlib.import_module(module_name)
    for attribute in filter(None, attributes.split(".")):
        found = getattr(found, attribute)
    return found


def is_listed(target: str) -> bool:
    """Whether a target that names something of a public page of Lightwell names something that is really there."""
    module_name, _, attribute = target.partition(":")
    if not attribute or not module_name.startswith("lightwell."):
        return True
    return attribute in getattr(importlib.import_module(module_name), "__all__", (attribute,))


def lazy_names(
    module_name: str,
    targets: Mapping[str, str | Callable[[], Any]],
    *,
    absent: Mapping[str, str] | None = None,
    unlisted: Mapping[str, str | Callable[[], Any]] | None = None,
    label: str = "",
    keep: bool = True,
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make `__getattr__`, `__dir__` and `__all__` of a module from a table.

    Args:
        module_name: the module's `__name__`.
        targets: public name -> where it lives, as `resolve` reads it, or a function that makes it.
        absent: names people will ask for that do not exist -> a sentence that says what to use instead. They are in
            neither `__dir__` nor `__all__`, and `hasattr` is false for them.
        unlisted: names that are found, but offered nowhere.
        label: how users write the module, for errors; the module's name if empty.
        keep: put what was found into the module, so that the lookup happens once.

    Returns:
        The three values, in that order.
    """
    missing = dict(absent or {})
    known = {**targets, **(unlisted or {})}

    def module_getattr(name: str) -> Any:
        target = known.get(name)
        if target is None:
            refuse(_why_not(label or module_name, name, targets, missing), module_name, name)
        value = resolve(target) if isinstance(target, str) else target()
        if keep:
            setattr(sys.modules[module_name], name, value)
        return value

    def module_dir() -> list[str]:
        hidden = {*missing, *(unlisted or {})}
        return sorted({*vars(sys.modules[module_name]), *targets} - hidden)

    return module_getattr, module_dir, sorted(targets)


def refuse(text: str, module_name: str, name: str) -> NoReturn:
    """Raise the error for a name that a module does not have: an AttributeError, but an ImportError in the middle of
    `from module import name`.

    There, Python takes any AttributeError for "no such name", looks for a submodule, and raises an ImportError of its
    own words: the sentence that says what to use would be lost. The only other sign of what is asked is the instruction
    that the asking frame executes. (One class for both does not help, for the reason above; and Python refuses it:
    AttributeError and ImportError have different layouts.)
    """
    if _asked_by_from_import():
        raise ImportError(text, name=module_name)
    raise AttributeError(text, name=name)


def _asked_by_from_import() -> bool:
    """Whether the innermost frame outside this package is executing `from module import name`."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None or frame.f_lasti < 0:
        return False
    code, place = frame.f_code.co_code, frame.f_lasti
    while code[place] == opcode.EXTENDED_ARG:  # in a module with many names; Python 3.10 stops at this prefix
        place += 2
    return code[place] == opcode.opmap["IMPORT_FROM"]


def _why_not(label: str, name: str, targets: Iterable[str], absent: Mapping[str, str]) -> str:
    """The text of the error for a name that a page does not have."""
    if name in absent:
        return f"{label}.{name} does not exist in Lightwell. {absent[name]}"
    # Python and its tools ask every module for names like __path__; nobody reads the answer.
    near = [] if name.startswith("__") else difflib.get_close_matches(name, targets, n=3)
    hint = f" Nearest names: {', '.join(near)}." if near else ""
    return f"module {label!r} has no attribute {name!r}.{hint}"
