"""Compiles a source of Python 2 for today's Python: what `lightwell run --old-python` does to a program's own modules.

A source that does not parse is rewritten by a fixer of syntax (`fissix`, or `lib2to3` where Python still has it: print,
except, raise, exec, `<>`, backticks, old numbers, tabs). In all of them, `/` of whole numbers (if the file is Python
2), `d.has_key`, `d.iteritems()` and lists of keys become calls of `old_python`. Line numbers stay, and so do files.
"""

from __future__ import annotations

import ast
import importlib
import re
import warnings
from dataclasses import dataclass
from typing import Any

from lightwell.cli import old_program_errors
from lightwell.compat.tf1.name_uses import all_bound_names

_FIXERS = (
    *("except", "exec", "funcattrs", "intern", "metaclass", "methodattrs", "ne", "nonzero", "numliterals", "operator"),
    *("paren", "print", "raise", "renames", "repr", "standarderror", "throw", "tuple_params", "types"),
)
# Special methods of classes: name in Python 2 -> today's.
_METHODS = {"next": "__next__", "__nonzero__": "__bool__", "__div__": "__truediv__", "__unicode__": "__str__"}
_HELPER = "__lightwell_old_python__"
_FUTURE_DIVISION = re.compile(r"^from __future__ import .*\bdivision\b", re.MULTILINE)
_UNICODE_RAW = re.compile(r"\b[uU][rR](?=['\"])")
INSTALL = "pip install 'lightwell[python2]'"


class NoFixer(Exception):
    """No fixer of syntax is installed."""


@dataclass(frozen=True)
class TranslatedSource:
    """A source as it is run.

    Attributes:
        tree: what is compiled.
        changes: the number of lines that differ from the source.
    """

    tree: ast.Module
    changes: int


def is_python2(source: str | bytes) -> bool:
    """Whether a source can only be Python 2: by its syntax, or by names, methods and modules that it uses."""
    try:
        return _has_old_names(ast.parse(source))
    except SyntaxError as error:
        return old_program_errors.about_syntax(error) is not None
    except ValueError:
        return False


def translate(source: str | bytes, file: str, in_python2: bool = False) -> TranslatedSource:
    """Rewrite a source. One that is Python 3 without old habits stays as it is.

    Args:
        source: the source.
        file: its path.
        in_python2: whether its program is Python 2: a source that could be either is Python 2 then.

    Raises:
        SyntaxError: it is neither Python 2 nor Python 3.
        NoFixer: it is Python 2, and nothing is installed that rewrites its syntax.
    """
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `"\d"`: the program's own affair
        try:
            tree, changed = ast.parse(text, file), set[int]()
            old = _has_old_names(tree) or (in_python2 and not _is_python3(tree))
        except SyntaxError as error:
            fixed = _fix_syntax(text, file, error)
            tree, old = ast.parse(fixed, file), True
            pairs = zip(text.split("\n"), fixed.split("\n"), strict=False)
            changed = {number for number, (old, new) in enumerate(pairs, 1) if old != new}
    rewriter = _Rewriter(old and not _FUTURE_DIVISION.search(text))
    tree = ast.fix_missing_locations(rewriter.visit(tree))
    return TranslatedSource(tree, len(changed | rewriter.lines))


def import_helper(tree: ast.Module, module: str, name: str) -> None:
    """Lets a source begin with the import of a module under a name, behind its docstring and `from __future__`."""
    place = 1 if ast.get_docstring(tree, clean=False) is not None else 0
    while place < len(tree.body) and _is_future(tree.body[place]):
        place += 1
    tree.body.insert(place, _at(ast.parse(f"import {module} as {name}").body[0]))


def _has_old_names(tree: ast.AST) -> bool:
    """Whether a source that parses uses names or modules that only Python 2 had."""
    bound = all_bound_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in old_program_errors.NAMES and node.id not in bound:
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("has_key", "iteritems", "iterkeys", "itervalues"):
            return True
        if isinstance(node, ast.Import) and any(alias.name in old_program_errors.MODULES for alias in node.names):
            return True
    return False


def _is_python3(tree: ast.AST) -> bool:
    """Whether a source has syntax that Python 2 lacked."""
    newer = (ast.JoinedStr, ast.AnnAssign, ast.Nonlocal, ast.AsyncFunctionDef, ast.YieldFrom, ast.MatMult)
    return any(
        isinstance(node, newer)
        or (isinstance(node, ast.arguments) and bool(node.kwonlyargs))
        or (isinstance(node, ast.arg) and node.annotation is not None)
        for node in ast.walk(tree)
    )


def _fix_syntax(text: str, file: str, error: SyntaxError) -> str:
    spaced = _UNICODE_RAW.sub("r", text.expandtabs(8))
    try:
        ast.parse(spaced, file)
    except SyntaxError:
        pass
    else:
        return spaced
    refactor, fixes = _fixer()
    tool = refactor.RefactoringTool([f"{fixes}.fix_{name}" for name in _FIXERS])
    try:
        return str(tool.refactor_string(spaced.rstrip("\n") + "\n", file))
    except Exception:  # its own errors of parsing: the source is no Python 2 either
        raise error from None


def _fixer() -> tuple[Any, str]:
    for package in ("fissix", "lib2to3"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # lib2to3 is deprecated; Python 3.13 no longer has it
                return importlib.import_module(f"{package}.refactor"), f"{package}.fixes"
        except ImportError:
            continue
    raise NoFixer(f"the program has the syntax of Python 2, and no package is installed that rewrites it: {INSTALL}")


class _Rewriter(ast.NodeTransformer):
    """Calls of `old_python` in place of what has another meaning today."""

    def __init__(self, divides_whole: bool) -> None:
        self.divides_whole = divides_whole
        self.lines: set[int] = set()

    def visit_Module(self, node: ast.Module) -> ast.Module:
        self.generic_visit(node)
        if self.lines:
            import_helper(node, "lightwell.cli.old_python", _HELPER)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.generic_visit(node)
        defined = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
        for old, new in _METHODS.items():
            if old in defined and new not in defined:
                self.lines.add(node.lineno)
                same = ast.Assign([ast.Name(new, ast.Store())], ast.Name(old, ast.Load()))
                node.body.append(ast.copy_location(same, node.body[-1]))
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if not (self.divides_whole and isinstance(node.op, ast.Div)) or _is_float(node.left) or _is_float(node.right):
            return node
        return self._call(node, "divide", node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        if not (self.divides_whole and isinstance(node.op, ast.Div) and isinstance(node.target, ast.Name)):
            return node
        value = self._call(node, "divide", ast.Name(node.target.id, ast.Load()), node.value)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute) or node.keywords:
            return node
        name, owner = node.func.attr, node.func.value
        is_module = isinstance(owner, ast.Name) and owner.id in ("six", "compat", "future")
        if name in ("keys", "values", "items") and not node.args:
            return self._call(node, "listed", owner, ast.Constant(name))
        old = name in old_program_errors.METHODS or (name == "next" and not node.args)
        if not old or is_module:
            return node
        return self._call(node, "call_old_method", owner, ast.Constant(name), *node.args)

    def _call(self, at: ast.expr | ast.stmt, function: str, *arguments: ast.expr) -> ast.Call:
        self.lines.add(at.lineno)
        helper = ast.Attribute(ast.Name(_HELPER, ast.Load()), function, ast.Load())
        return ast.copy_location(ast.Call(helper, list(arguments), []), at)


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _is_float(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def _at(statement: ast.stmt) -> ast.stmt:
    for node in ast.walk(statement):
        if isinstance(node, ast.stmt | ast.expr | ast.alias):
            node.lineno = node.end_lineno = 1
            node.col_offset = node.end_col_offset = 0
    return statement
