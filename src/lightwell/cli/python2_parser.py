"""Parses sources that may contain Python 2.

`parse` returns a `ParsedSource`: the tree, and the lines that today's Python cannot parse. It replaces those lines by
something that parses. The tree is for reading a program, never for running it.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from lightwell.cli.old_program_errors import about_syntax

_MOST_LINES = 2000
_IF_TESTS = re.compile(r"version_info|\bPY[23]\b|hasattr|__version__|python_version|StrictVersion|LooseVersion")
_CATCHES = frozenset(
    {"ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "Exception", "BaseException"}
)
_BLOCK = re.compile(r"^\s*(if|elif|else|for|while|with|def|class|try|finally|except)\b.*:\s*(#.*)?$")


@dataclass(frozen=True)
class ParsedSource:
    """A source, with the lines that do not parse.

    Attributes:
        tree: the lines that parse.
        old_lines: the lines that do not, as (line number, description, advice).
    """

    tree: ast.Module
    old_lines: tuple[tuple[int, str, str], ...] = ()


def parse(text: str | bytes, file: str) -> ParsedSource:
    """Parse a source, replacing lines of Python 2."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    lines = text.expandtabs(8).split("\n")
    old: list[tuple[int, str, str]] = list(_mixed_tabs(text, file))
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # `"\d"`: the program's own affair
                return ParsedSource(ast.parse("\n".join(lines), file), tuple(old))
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or len(lines)
            if (
                len(old) >= _MOST_LINES
                or not isinstance(error, SyntaxError)
                or not _replace_line(lines, line, error, old)
            ):
                unread = (line, f"cannot be read: {error}", "mend the line; what stands in this file is not listed")
                return ParsedSource(ast.Module([], []), (*old, unread))


def _mixed_tabs(text: str, file: str) -> Iterator[tuple[int, str, str]]:
    """The first line whose tabs and spaces only Python 2 could read."""
    if "\t" not in text:
        return
    try:
        compile(text, file, "exec", ast.PyCF_ONLY_AST)
    except TabError as error:
        yield error.lineno or 1, "tabs mixed with spaces", "indent with spaces alone"
    except (SyntaxError, ValueError):
        return  # its first error is another one, which is listed on its own


def _replace_line(lines: list[str], line: int, error: SyntaxError, old: list[tuple[int, str, str]]) -> bool:
    """Replace a line by one that parses; False if it was replaced before."""
    place = min(line, len(lines)) - 1
    before = lines[place]
    indent = before[: len(before) - len(before.lstrip())]
    if before.strip() in ("pass", "if True: pass", ""):
        return False
    meaning = about_syntax(error)
    old.append((line, "syntax of Python 2" if meaning else "syntax error", meaning or str(error.msg)))
    exception = re.match(r"^\s*except\s+([^,:]+|\(.*\))\s*,\s*(\w+)\s*:", before)
    printed = re.match(r"^\s*print\s*(>>.*?,)?(.*)$", before)
    if exception:
        lines[place] = f"{indent}except {exception[1]} as {exception[2]}:"
    elif printed and _parses(printed[2].strip()):
        lines[place] = f"{indent}print({printed[2].strip()})"
    elif _BLOCK.match(before):
        lines[place] = f"{indent}if True:"
    else:
        lines[place] = f"{indent}pass"
    return lines[place] != before


def _parses(text: str) -> bool:
    try:
        ast.parse(f"({text})")
    except SyntaxError:
        return False
    return True


def guarded_lines(tree: ast.AST) -> set[int]:
    """Lines that a program can do without: below `try ... except ImportError`, or below a check of versions."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and _is_never(node.test):
            lines |= {line for one in node.body for line in _lines_of(one)}
        if isinstance(node, ast.Try) and any(_catches(handler) for handler in node.handlers):
            statements: list[ast.stmt] = [*node.body, *(one for handler in node.handlers for one in handler.body)]
        elif isinstance(node, ast.If) and _IF_TESTS.search(ast.unparse(node.test)):
            statements = [*node.body, *node.orelse]
        else:
            continue
        lines |= {line for one in statements for line in _lines_of(one)}
    return lines


def without_checked_choices(tree: ast.Module) -> ast.Module:
    """A tree without what `a if hasattr(...) else b` chooses from: neither of the two needs to be there.

    Of `a if False else b`, b is left.
    """
    return _Chosen().visit(tree)


class _Chosen(ast.NodeTransformer):
    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if _is_never(node.test):
            return self.visit(node.orelse)
        if _IF_TESTS.search(ast.unparse(node.test)):
            return self.visit(node.test)
        self.generic_visit(node)
        return node


def _lines_of(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_never(test: ast.expr) -> bool:
    """Whether a condition is written as false: `if False`, `if 0`."""
    return isinstance(test, ast.Constant) and not test.value


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    named = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(getattr(one, "id", getattr(one, "attr", "")) in _CATCHES for one in named)
