"""Compiles the cells of a notebook so that they run on a plain terminal.

Provides the names that notebooks expect (`display`, `get_ipython`). The value of a cell's last line is printed.
Tracebacks name the cell and the line in it.
"""

from __future__ import annotations

import ast
import importlib.util
import linecache
import os
import sys
from types import CodeType, ModuleType
from typing import Any

from lightwell.cli import old_arrays
from lightwell.cli.notebooks import Notebook, NotebookCell
from lightwell.cli.python2_source import translate

_SHOW, _WRITE = "__show_last_value__", "__write_cell__"


def cell_code(notebook: Notebook, old_python: bool = False) -> list[CodeType]:
    """The code of every cell, in order.

    Args:
        notebook: the notebook.
        old_python: whether its cells may be Python 2.

    Raises:
        SyntaxError: with the cell's name as its file.
    """
    return [_compile_cell(cell, notebook, old_python) for cell in notebook.cells]


def notebook_namespace() -> dict[str, Any]:
    """The names that every notebook has."""
    return {"display": display, "get_ipython": _Shell, _SHOW: _show_value, _WRITE: _write_file}


def prepare_process() -> None:
    """Set up matplotlib without a display, and make `IPython.display` importable."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    if "IPython" not in sys.modules and importlib.util.find_spec("IPython") is None:
        page, shown = ModuleType("IPython"), ModuleType("IPython.display")
        vars(shown).update(
            {name: _display_class(name) for name in ("HTML", "Image", "Markdown", "SVG", "Audio", "Latex")}
        )
        vars(shown).update(display=display, clear_output=_do_nothing)
        # Libraries read the version of a loaded IPython, and its shell; a terminal has no shell.
        vars(page).update(display=shown, get_ipython=_do_nothing, version_info=(8, 24), __path__=[])
        sys.modules.update({"IPython": page, "IPython.display": shown})
    else:
        # Without a shell, IPython's own display prints the type of an object and not its content.
        vars(importlib.import_module("IPython.display")).update(display=display)


def display(*values: Any, **options: Any) -> None:
    """Print what a notebook would show."""
    for value in values:
        of_ipython = type(value).__module__.partition(".")[0] == "IPython"
        text = getattr(value, "data", None) if of_ipython else value
        print(text if isinstance(text, str) else repr(value))


def _compile_cell(cell: NotebookCell, notebook: Notebook, old_python: bool) -> CodeType:
    name = notebook.cell_file(cell.number)
    linecache.cache[name] = (len(cell.source), None, cell.source.splitlines(keepends=True), name)
    if cell.writes:
        # As Jupyter does, because the next cells import or run the file.
        return compile(f"{_WRITE}({cell.writes!r}, {cell.text!r}, {cell.appends})", name, "exec")
    tree = translate(cell.source, name).tree if old_python else ast.parse(cell.source, name)
    old_arrays.rewrite(tree)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr) and not cell.source.rstrip().endswith(";"):
        shown = ast.Call(ast.Name(_SHOW, ast.Load()), [last.value], [])
        tree.body[-1] = ast.copy_location(ast.Expr(ast.copy_location(shown, last.value)), last)
        ast.fix_missing_locations(tree)
    return compile(tree, name, "exec", dont_inherit=True)


def _show_value(value: Any) -> None:
    if value is not None:
        display(repr(value))


def _write_file(file: str, text: str, appends: bool) -> None:
    with open(file, "a" if appends else "w", encoding="utf-8") as opened:
        opened.write(text)


def _do_nothing(*args: Any, **kwargs: Any) -> None:
    """Stands in for functions that need a browser."""


def _display_class(kind: str) -> type:
    """A class of `IPython.display` that prints its data."""

    def start(self: Any, data: Any = None, *args: Any, **kwargs: Any) -> None:
        self.data = data

    return type(kind, (), {"__init__": start, "__repr__": lambda self: f"<{kind}>" if self.data is None else self.data})


class _Shell:
    """The result of `get_ipython()`: a shell without magics."""

    def __getattr__(self, name: str) -> Any:
        return _do_nothing
