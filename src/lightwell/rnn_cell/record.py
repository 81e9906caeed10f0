"""Cells in the book of layers: under which name a call is written down.

What `dynamic_rnn` and its kin make of a cell is written down by `sequences.py`.
"""

from __future__ import annotations

from typing import Any

from lightwell.errors import UsageError


def innermost(cell: Any) -> Any:
    """The cell inside of all wrappers."""
    while hasattr(cell, "wrapped_cell"):
        cell = cell.wrapped_cell
    return cell


def record_name(cell: Any, scope: str) -> str:
    """A cell's name in the book: the scope of its variables. Wrappers count as the cell they wrap.

    A cell that overrides `__call__` keeps no scope; it is called by its class, as its variables usually are.
    """
    cell = innermost(cell)
    try:
        return str(cell.scope_name)
    except (UsageError, AttributeError):
        return "/".join(filter(None, (scope, type(cell).__name__)))
