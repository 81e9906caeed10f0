"""Cells in the book of layers: under which name a call is written down.

What `dynamic_rnn` and its kin make of a cell is written down by `sequences.py`.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.model.layers.base import Layer


def innermost(cell: Any) -> Any:
    """The cell inside of all wrappers."""
    while hasattr(cell, "wrapped_cell"):
        cell = cell.wrapped_cell
    return cell


def name_ahead(cell: Any, scope: Any = None) -> str:
    """The name that `record_name` will give for a cell which is called next, in the scope that is open now.

    Args:
        cell: the cell.
        scope: the scope that it will open.
    """
    cell, here = innermost(cell), tf.compat.v1.get_variable_scope().name
    if isinstance(cell, Layer) and not _overrides_call(cell):
        return cell.name_ahead(scope)
    return record_name(cell, here)


def _overrides_call(cell: Any) -> bool:
    """Whether a program's cell has a `__call__` of its own, as before TensorFlow 1.2, and takes no scope."""
    return not type(cell).__call__.__module__.startswith(f"{__name__.partition('.')[0]}.")


def record_name(cell: Any, scope: str) -> str:
    """A cell's name in the book: the scope of its variables. Wrappers count as the cell they wrap.

    A cell that overrides `__call__` keeps no scope; it is called by its class, as its variables usually are.
    """
    cell = innermost(cell)
    try:
        return str(cell.scope_name)
    except (UsageError, AttributeError):
        return "/".join(filter(None, (scope, type(cell).__name__)))
