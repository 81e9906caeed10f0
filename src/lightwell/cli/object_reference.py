"""`module:name` references on the command line, imported as `lightwell run` imports them."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from typing import Any

from lightwell.cli.program_folders import program_folders
from lightwell.cli.runner import open_doors, read_module_program
from lightwell.cli.user_program import read_program
from lightwell.errors import UsageError


def is_object_reference(text: str) -> bool:
    """Whether a text is a `module:name`, and no file."""
    module, _, name = text.partition(":")
    return bool(module) and name.replace(".", "_").isidentifier() and not os.path.exists(text)


def load_object(text: str, option: str) -> Any:
    """The object that `module:name` or `file.py:name` refers to; the current directory is searched first.

    Raises:
        UsageError: there is no such module, or nothing of the name in it.
    """
    if not is_object_reference(text):
        raise UsageError(f"{option} {text}: expected module:name, as in train:model_fn.")
    source, _, name = text.partition(":")
    value: Any = _imported(source, option)
    for part in name.split("."):
        if not hasattr(value, part):
            near = difflib.get_close_matches(
                part, [one for one in dir(value) if not one.startswith("_")], n=3, cutoff=0.4
            )
            hint = f" The nearest names are {near}." if near else ""
            raise UsageError(f"{option} {text}: {source} has no {part!r}.{hint}")
        value = getattr(value, part)
    return value


def _imported(source: str, option: str) -> Any:
    folder, name = os.getcwd(), source
    if source.endswith(".py"):
        if not os.path.isfile(source):
            raise UsageError(f"{option}: there is no file {source}.")
        folder, name = os.path.dirname(os.path.abspath(source)), os.path.splitext(os.path.basename(source))[0]
    folders = program_folders(folder, os.getcwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    program = (
        read_program(source, "", folders, None) if source.endswith(".py") else read_module_program(name, folders, None)
    )
    open_doors(program)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise UsageError(
            f"{option}: there is no module {name!r}. Modules are looked for in {folder} and in what is installed."
        ) from None
