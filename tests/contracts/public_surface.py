"""The public surface as plain data: every page that users import, its names, and how each is called.

`python -m tests.contracts.public_surface` writes the record that `test_public_surface.py` compares with. Write it anew
only when a public name, an argument or a default is meant to change.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from pathlib import Path
from typing import Any

RECORD = Path(__file__).parents[1] / "data" / "public_surface.json"

PAGES = (
    "lightwell",
    "lightwell.compat",
    "lightwell.compat.v1",
    "lightwell.compat.v1.estimator",
    "lightwell.compat.v1.estimator.experimental",
    "lightwell.compat.v1.estimator.export",
    "lightwell.compat.v1.estimator.inputs",
    "lightwell.compat.v1.estimator.tpu",
    "lightwell.errors",
    "lightwell.estimator",
    "lightwell.estimator.experimental",
    "lightwell.estimator.export",
    "lightwell.export",
    "lightwell.feature_columns",
    "lightwell.layers",
    "lightwell.layers.experimental",
    "lightwell.rnn_cell",
)
# All of TensorFlow is on these pages: the names alone, and only those that are ours to give.
LISTED = {"lightwell.tf1": ("compat", "contrib", "enable_tf1_behavior", "estimator", "examples", "layers", "nn")}
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def surface() -> dict[str, dict[str, Any]]:
    """Every page -> name -> what it is."""
    found = {page: {name: _described(_value(page, name)) for name in _names(page)} for page in PAGES}
    for page, names in LISTED.items():
        found[page] = {name: _described(_value(page, name)) for name in names}
    return found


def _names(page: str) -> list[str]:
    module = importlib.import_module(page)
    listed = getattr(module, "__all__", None)
    if listed is None:
        listed = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return sorted(name for name in listed if not name.startswith("_"))


def _value(page: str, name: str) -> Any:
    return getattr(importlib.import_module(page), name)


def _described(value: Any) -> Any:
    if inspect.ismodule(value):
        return "module"
    if inspect.isclass(value):
        if (value.__module__ or "").partition(".")[0] != "lightwell":
            return f"class of {value.__module__.partition('.')[0]}"
        bases = [base.__name__ for base in value.__mro__[1:] if base is not object]
        members = {name: _member(value, name) for name in sorted(dir(value)) if _is_ours(value, name)}
        return {"bases": bases, "call": _signature(value), "members": members}
    return _signature(value) if callable(value) else type(value).__name__


def _is_ours(owner: type, name: str) -> bool:
    """Whether a public member is defined in Lightwell; those that TensorFlow gives differ from release to release."""
    if name.startswith("_"):
        return False
    home = next(base for base in owner.__mro__ if name in vars(base))
    return home.__module__.partition(".")[0] == "lightwell"


def _member(owner: type, name: str) -> str:
    value = inspect.getattr_static(owner, name)
    if isinstance(value, (staticmethod, classmethod)):
        return f"{type(value).__name__}{_signature(value.__func__)}"
    return _signature(value) if inspect.isfunction(value) else type(value).__name__


def _signature(value: Any) -> str:
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return "?"
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in parameters]
    return _ADDRESS.sub("", f"({', '.join(map(str, bare))})")


if __name__ == "__main__":
    RECORD.write_text(json.dumps(surface(), indent=1, sort_keys=True) + "\n")
