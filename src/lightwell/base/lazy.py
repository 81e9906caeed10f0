"""Modules whose public names are imported on first use.

`lazy_names` turns a table of `name -> "module:attribute"` into the `__getattr__`, `__dir__` and `__all__` of a module.
Nothing is imported before a name is used.

    __getattr__, __dir__, __all__ = lazy_names(__name__, {"Estimator": "lightwell.estimator.core:Estimator"})
"""

from __future__ import annotations

import difflib
import importlib
import opcode
import sys
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any, NoReturn

from lightwell.base import package


def resolve(target: str) -> Any:
    """Import a target: `"a.b"` is a module, `"a.b:c.d"` the attribute `d` of the module's attribute `c`."""
    module_name, _, attributes = target.partition(":")
    value: Any = importlib.import_module(module_name)
    for attribute in filter(None, attributes.split(".")):
        value = getattr(value, attribute)
    return value


def alias(page: str, target: str) -> None:
    """Make `page` another name of the module `target`, for import statements too.

    Loaded submodules get both names, so that none is loaded twice.
    """
    importlib.import_module(target)
    for name, module in list(sys.modules.items()):
        if name == target or name.startswith(f"{target}."):
            sys.modules[page + name.removeprefix(target)] = module


def is_listed(target: str) -> bool:
    """Whether the target is in the `__all__` of its module; true for modules outside of Lightwell."""
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
        targets: public name -> target for `resolve`, or a function that returns the value.
        absent: names that users expect and that do not exist -> a sentence that says what to use instead. They are in
            neither `__dir__` nor `__all__`, and `hasattr` is false for them.
        unlisted: names that resolve, but are in neither `__dir__` nor `__all__`.
        label: how users write the module, for errors; the module's name if empty.
        keep: store the value in the module, so that the lookup happens once.

    Returns:
        The three values, in that order.
    """
    missing = dict(absent or {})
    known = {**targets, **(unlisted or {})}

    def module_getattr(name: str) -> Any:
        target = known.get(name)
        if target is None:
            refuse(_missing_text(label or module_name, name, targets, missing), module_name, name)
        value = resolve(target) if isinstance(target, str) else target()
        if keep:
            setattr(sys.modules[module_name], name, value)
        return value

    def module_dir() -> list[str]:
        hidden = {*missing, *(unlisted or {})}
        loaded = sys.modules.get(module_name)  # a page can be asked before it is imported
        return sorted({*(vars(loaded) if loaded is not None else ()), *targets} - hidden)

    return module_getattr, module_dir, sorted(targets)


def refuse(text: str, module_name: str, name: str) -> NoReturn:
    """Raise the error for a name that a module does not have: ImportError in `from module import name`, else
    AttributeError.

    `from module import name` replaces an AttributeError by its own "cannot import name" and so loses the sentence that
    says what to use, while `hasattr` needs the AttributeError. Python tells `__getattr__` which of the two calls it
    only by the instruction of the calling frame: a finder in `sys.meta_path` would change the process on import and
    sees packages only, and one class cannot derive from both errors.
    """
    if _is_from_import():
        raise ImportError(text, name=module_name)
    raise AttributeError(text, name=name)


def _is_from_import() -> bool:
    """Whether the innermost frame outside this package executes `from module import name`."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(package.FOLDER):
        frame = frame.f_back
    if frame is None or frame.f_lasti < 0:
        return False
    code, offset = frame.f_code.co_code, frame.f_lasti
    while code[offset] == opcode.EXTENDED_ARG:  # in a module with many names, Python 3.10 stops at this prefix
        offset += 2
    return code[offset] == opcode.opmap["IMPORT_FROM"]


def _missing_text(label: str, name: str, targets: Iterable[str], absent: Mapping[str, str]) -> str:
    """The text of the error for a name that a module does not have."""
    if name in absent:
        return f"{label}.{name} does not exist in Lightwell. {absent[name]}"
    # Python and its tools look up names like __path__ in every module; nobody reads the error.
    near = [] if name.startswith("__") else difflib.get_close_matches(name, targets, n=3)
    hint = f" Nearest names: {', '.join(near)}." if near else ""
    return f"module {label!r} has no attribute {name!r}.{hint}"
