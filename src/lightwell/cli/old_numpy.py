"""The names that NumPy removed and programs of TensorFlow 1 use, with their replacements.

`restore` puts them back for the process (`lightwell run --old-numpy`). Names that the installed NumPy has (again), such
as `np.bool`, stay as they are.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any


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
_MISSING_NAME = re.compile(r"module 'numpy' has no attribute '(\w+)'|`np\.(\w+)` was removed")


def is_gone(name: str) -> bool:
    """Whether the installed NumPy lacks a name that earlier ones had."""
    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns about some of them
        return name in REMOVED and not hasattr(np, name)


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
        value: Any = eval(REMOVED[name].instead, {"np": np})
        setattr(np, name, value)
    return gone
