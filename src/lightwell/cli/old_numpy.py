"""The names that NumPy removed and programs of TensorFlow 1 use, with their replacements.

A program that uses one of them sees a `view` of NumPy in its own modules, with all of them and as they were: `np.bool`
is Python's there. `restore` puts them back for the whole process, installed packages too (`lightwell run --old-numpy`);
names that the installed NumPy has (again) stay as they are.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lightwell.cli.module_views import ModuleView
from lightwell.compat.tf1.name_uses import read_uses


@dataclass(frozen=True)
class Removed:
    """A removed name: the release that removed it, and the expression to write instead."""

    since: str
    instead: str


_IN_1_24 = {"bool": "bool", "complex": "complex", "float": "float", "int": "int", "object": "object", "str": "str"}
_IN_1_24 |= {"long": "int", "unicode": "str"}
_IN_2_0 = {
    "Inf": "np.inf",
    "Infinity": "np.inf",
    "NINF": "-np.inf",
    "NZERO": "-0.0",
    "NaN": "np.nan",
    "PINF": "np.inf",
    "PZERO": "0.0",
    "alltrue": "np.all",
    "asfarray": "lambda a, dtype=np.float64: np.asarray(a, dtype)",
    "cfloat": "np.complex128",
    "clongfloat": "np.clongdouble",
    "complex_": "np.complex128",
    "cumproduct": "np.cumprod",
    "find_common_type": "lambda arrays, scalars: np.result_type(*arrays, *scalars)",
    "float_": "np.float64",
    "infty": "np.inf",
    "longcomplex": "np.clongdouble",
    "longfloat": "np.longdouble",
    "mat": "np.asmatrix",
    "msort": "lambda a: np.sort(a, axis=0)",
    "product": "np.prod",
    "round_": "np.round",
    "row_stack": "np.vstack",
    "singlecomplex": "np.complex64",
    "sometrue": "np.any",
    "string_": "np.bytes_",
    "unicode_": "np.str_",
}
_LATER = {"in1d": ("2.4", "lambda a, b, **more: np.isin(a, b, **more).ravel()"), "trapz": ("2.4", "np.trapezoid")}
REMOVED: dict[str, Removed] = (
    {name: Removed("1.24", instead) for name, instead in _IN_1_24.items()}
    | {name: Removed("2.0", instead) for name, instead in _IN_2_0.items()}
    | {name: Removed(*row) for name, row in _LATER.items()}
    | {"asscalar": Removed("1.23", "lambda a: a.item()"), "rank": Removed("1.18", "np.ndim")}
)
_TOSTRING = "ndarray.tostring"
METHODS = {_TOSTRING: Removed("2.3", "array.tobytes()")}
"""Methods of arrays that NumPy removed. Their calls are rewritten (`old_arrays`): a class of NumPy gets no methods."""
_MISSING_NAME = re.compile(r"module 'numpy' has no attribute '(\w+)'|`np\.(\w+)` was removed")


def is_gone(name: str) -> bool:
    """Whether the installed NumPy lacks a name that earlier ones had."""
    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns about some of them
        return name in REMOVED and not hasattr(np, name)


def uses_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of every use of a name that the installed NumPy lacks."""
    for use in read_uses(tree, ("numpy",)):
        name = use.names[0].split(".")[1]
        if is_gone(name):
            yield use.line, name
    lines = list(_tostring_calls_in(tree))
    if lines and not hasattr(importlib.import_module("numpy").ndarray, "tostring"):  # loaded for such a program alone
        yield from ((line, _TOSTRING) for line in lines)


def _tostring_calls_in(tree: ast.AST) -> Iterator[int]:
    """The lines that call `tostring()`; with an argument it is that of a module for XML."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == "tostring" and not node.args and not node.keywords:
            yield node.lineno


@functools.cache
def view() -> ModuleView:
    """NumPy with the names that it removed, and as they were."""
    return ModuleView(importlib.import_module("numpy"), {name: functools.partial(_value, name) for name in REMOVED})


def _value(name: str) -> Any:
    import numpy as np

    return eval(REMOVED[name].instead, {"np": np})


def name_in(error: BaseException) -> str | None:
    """The removed name that an error is about."""
    match = _MISSING_NAME.search(str(error)) if isinstance(error, AttributeError) else None
    name = (match[1] or match[2]) if match else None
    return name if name in REMOVED else None


def restore() -> list[str]:
    """Put the names back into the installed NumPy; returns those that were missing."""
    import numpy as np

    gone = [name for name in REMOVED if is_gone(name)]
    for name in gone:
        setattr(np, name, _value(name))
    return gone
