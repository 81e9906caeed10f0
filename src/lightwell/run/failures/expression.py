"""Locates the expression that raised an exception, and the values of the names in it.

Python 3.11 has the position in the line; before, the whole line is used. Without the source there is no result.
"""

from __future__ import annotations

import ast
import itertools
import linecache
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

_MISSING = object()


def values_in_failed_expression(error: BaseException) -> Iterator[Any]:
    """The values of the variables and attributes in the expression that raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    tree = None if trace is None else _parsed(_source(trace))
    if trace is None or tree is None:
        return
    for node in ast.walk(tree):
        value = _value(node, trace.tb_frame)
        if value is not _MISSING:
            yield value


def _source(trace: TracebackType) -> str:
    code = trace.tb_frame.f_code
    first, last, start, end = _place(trace) or (trace.tb_lineno, trace.tb_lineno, 0, None)
    lines = [linecache.getline(code.co_filename, line, trace.tb_frame.f_globals) for line in range(first, last + 1)]
    raw = [line.encode() for line in lines]  # positions count bytes
    raw[-1] = raw[-1][:end]
    raw[0] = raw[0][start:]
    return b"".join(raw).decode().strip()


def _place(trace: TracebackType) -> tuple[Any, ...] | None:
    """The first and the last line of what failed, its start in the one and its end in the other."""
    positions = getattr(trace.tb_frame.f_code, "co_positions", None)
    if positions is None:
        return None
    position = next(itertools.islice(positions(), trace.tb_lasti // 2, None), (None,))
    return None if None in position else tuple(position)


def _parsed(source: str) -> ast.AST | None:
    """Parses a piece of source; also the first line of a block, or the value of a `return`."""
    for written in (source, f"({source})", f"{source} pass", source.removeprefix("return ").rstrip(",([{")):
        try:
            return ast.parse(written)
        except SyntaxError:
            continue
    return None


def _value(node: ast.AST, frame: FrameType) -> Any:
    """The value of a name, or of an attribute of one; looked up without running any code."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id, _MISSING))
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, frame), "__dict__", {}).get(node.attr, _MISSING)
    return _MISSING
