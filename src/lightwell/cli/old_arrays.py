"""What arrays of NumPy 1 did and today's do not, for the own modules of a program.

`array.tostring()` left NumPy 2.3, and `float(array)` of an array with one element is an error since NumPy 2.4. NumPy's
class cannot be changed for one program, so these calls in its sources become calls of functions here, in memory. They
do the same as the calls in all other cases.
"""

from __future__ import annotations

import ast
from typing import Any

from lightwell.cli.python2_source import import_helper
from lightwell.compat.tf1.name_uses import all_bound_names

_METHOD = "tostring"
_HELPER = "__lightwell_old_arrays__"
_NUMBERS = frozenset({"float", "int"})


def rewrite(tree: ast.Module) -> bool:
    """Rewrites the calls of a source in place; returns whether there are any. Line numbers stay."""
    rewriter = _Rewriter(_NUMBERS - all_bound_names(tree))
    rewriter.visit(tree)
    if rewriter.has_changed:
        import_helper(tree, __name__, _HELPER)
        ast.fix_missing_locations(tree)
    return rewriter.has_changed


class _Rewriter(ast.NodeTransformer):
    def __init__(self, numbers: frozenset[str]) -> None:
        self._numbers = numbers
        self.has_changed = False

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            return node
        if isinstance(node.func, ast.Attribute) and node.func.attr == _METHOD:
            return self._call(node, "to_bytes", node.func.value, *node.args)
        is_number = isinstance(node.func, ast.Name) and node.func.id in self._numbers and len(node.args) == 1
        if is_number and not isinstance(node.args[0], ast.Constant):
            return self._call(node, "number", node.func, *node.args)
        return node

    def _call(self, at: ast.Call, function: str, *arguments: ast.expr) -> ast.Call:
        self.has_changed = True
        helper = ast.Attribute(ast.Name(_HELPER, ast.Load()), function, ast.Load())
        return ast.copy_location(ast.Call(helper, list(arguments), []), at)


def to_bytes(owner: Any, *arguments: Any) -> Any:
    """`owner.tostring(*arguments)`, which is `tobytes` of an array today."""
    if not hasattr(owner, _METHOD) and hasattr(owner, "tobytes"):
        return owner.tobytes(*arguments)
    return owner.tostring(*arguments)


def number(kind: Any, value: Any) -> Any:
    """`kind(value)`, also for an array with one element and more than no dimension."""
    if type(value).__module__ == "numpy" and value.shape and value.size == 1:
        return kind(value.item())
    return kind(value)
