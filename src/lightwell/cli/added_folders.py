"""The folders that a source adds to `sys.path`, read from its syntax tree: nothing is run.

Understands what programs write there: texts, `__file__`, `os.getcwd()`, functions of `os.path`, `pathlib.Path`, and
names that the module assigns such a value.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_FUNCTIONS: Mapping[str, Any] = {
    "abspath": os.path.abspath,
    "dirname": os.path.dirname,
    "expanduser": os.path.expanduser,
    "getcwd": os.getcwd,
    "join": os.path.join,
    "normpath": os.path.normpath,
    "realpath": os.path.realpath,
    "Path": Path,
    "str": str,
}
_METHODS = frozenset({"resolve", "absolute", "joinpath", "as_posix"})
_PROPERTIES = frozenset({"parent", "parents"})


class _Unknown(Exception):
    """An expression that cannot be read without running the program."""


def added_folders(tree: ast.Module, file: str) -> Iterator[str]:
    """The folders that exist, of those that a source appends to or inserts into `sys.path`."""
    values = {
        statement.targets[0].id: statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        if node.func.attr not in ("append", "insert") or ast.unparse(node.func.value) != "sys.path":
            continue
        try:
            folder = os.path.abspath(str(_value(node.args[-1], values, file)))
        except (_Unknown, TypeError, ValueError, IndexError):
            continue
        if os.path.isdir(folder):
            yield folder


def _value(node: ast.expr, names: Mapping[str, ast.expr], file: str) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        if node.id == "__file__":
            return file
        if node.id in names:
            return _value(names[node.id], {name: value for name, value in names.items() if name != node.id}, file)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
        left, right = (_value(side, names, file) for side in (node.left, node.right))
        return left + right if isinstance(node.op, ast.Add) else left / right
    if isinstance(node, ast.Attribute):
        if node.attr in ("pardir", "curdir", "sep"):
            return getattr(os, node.attr)
        if node.attr in _PROPERTIES:
            return getattr(_value(node.value, names, file), node.attr)
    if isinstance(node, ast.Subscript):
        return _value(node.value, names, file)[_value(node.slice, names, file)]
    if isinstance(node, ast.Call):
        return _called(node, names, file)
    raise _Unknown


def _called(node: ast.Call, names: Mapping[str, ast.expr], file: str) -> Any:
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    arguments = [_value(argument, names, file) for argument in node.args]
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](*arguments)
    if name in _METHODS and isinstance(function, ast.Attribute):
        return getattr(_value(function.value, names, file), name)(*arguments)
    raise _Unknown
