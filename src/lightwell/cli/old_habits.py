"""Habits of Python 2 and early Python 3 that still parse, and stop a program today: found in its syntax tree.

Only what fails for certain is listed: an index into a `map`, a `range` of a quotient. `lightwell run --old-python` runs
these programs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from lightwell.compat.tf1.name_uses import all_bound_names, read_uses

_ITERATORS = frozenset({"map", "filter", "zip"})
_VIEWS = frozenset({"keys", "values", "items"})
_OF_LISTS = frozenset({"sort", "append", "reverse", "extend", "insert", "pop"})
_LISTED = "it is no list any more: list(...)"
_WHOLE = "`/` gives a fraction since Python 3: `//`"


def old_habits(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Line, what, and what to write, of every habit that stops a program."""
    shadowed = all_bound_names(tree)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        kind = _kind(node, shadowed)
        if kind and _is_used_as_list(node, parents):
            yield node.lineno, kind, _LISTED  # type: ignore[attr-defined]
        if isinstance(node, ast.Module | ast.FunctionDef):
            yield from _named_iterators(node, shadowed, parents)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("range", "xrange"):
            if node.func.id not in shadowed and any(_is_quotient(each) for each in node.args):
                yield node.lineno, "range(a / b)", _WHOLE
        elif isinstance(node, ast.Slice):
            for bound in (node.lower, node.upper, node.step):
                if bound is not None and _is_quotient(bound):
                    yield bound.lineno, "x[: a / b]", _WHOLE
    yield from _yaml_loads(tree)


def _kind(node: ast.AST, shadowed: set[str]) -> str:
    """How an iterator or a view is written that Python 2 had as a list; empty for anything else."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Name) and node.func.id in _ITERATORS - shadowed and node.args:
        return f"{node.func.id}(...)"
    if isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS and not node.args and not node.keywords:
        return f".{node.func.attr}()"
    return ""


def _is_used_as_list(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    above = parents.get(node)
    of_view = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    if isinstance(above, ast.Subscript) and above.value is node:
        return not of_view or isinstance(above.slice, ast.Constant | ast.UnaryOp | ast.Slice)
    if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id == "len":
        return not of_view  # a view has a length
    return isinstance(above, ast.Attribute) and above.attr in _OF_LISTS and isinstance(parents.get(above), ast.Call)


def _named_iterators(
    scope: ast.Module | ast.FunctionDef, shadowed: set[str], parents: Mapping[ast.AST, ast.AST]
) -> Iterator[tuple[int, str, str]]:
    """Names that are only ever assigned a `map`, `filter` or `zip` in a scope, and are used as lists in it."""
    inside = list(_walk_scope(scope))
    stored: dict[str, list[ast.AST]] = {}
    for node in inside:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            above = parents.get(node)
            stored.setdefault(node.id, []).append(above.value if isinstance(above, ast.Assign) else node)
    for node in inside:
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or node.id not in stored:
            continue
        kinds = {_kind(value, shadowed) for value in stored[node.id]}
        if len(kinds) == 1 and (kind := kinds.pop()).endswith("(...)") and _is_used_as_list(node, parents):
            yield node.lineno, f"{node.id} = {kind}", _LISTED


def _walk_scope(scope: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from _walk_scope(child)


def _is_quotient(node: ast.expr) -> bool:
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
        return False
    return not any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (node.left, node.right))


def _yaml_loads(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    names = {use.line for use in read_uses(tree, ("yaml",)) if use.names == ("yaml.load",) and not use.imported}
    for node in ast.walk(tree):
        is_load = isinstance(node, ast.Call) and node.lineno in names and getattr(node.func, "attr", "") == "load"
        if isinstance(node, ast.Call) and is_load and len(node.args) == 1 and not node.keywords:
            yield node.lineno, "yaml.load(text)", "PyYAML 6 wants a loader: yaml.safe_load(text)"
