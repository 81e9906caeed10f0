"""`module:name` on the command line, imported as `lightwell run` would import it: with the doors open."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from typing import Any

from lightwell.cli.places import places_of
from lightwell.cli.program import look_at
from lightwell.cli.runner import look_at_module, open_doors
from lightwell.errors import UsageError


def is_named(text: str) -> bool:
    """Whether a text is a `module:name`, and no file."""
    module, _, name = text.partition(":")
    return bool(module) and name.replace(".", "_").isidentifier() and not os.path.exists(text)


def load_named(text: str, option: str) -> Any:
    """What `module:name` or `file.py:name` means; modules are looked for in the current directory first.

    Raises:
        UsageError: there is no such module, or nothing of the name in it.
    """
    if not is_named(text):
        raise UsageError(f"{option} {text}: expected module:name, as in train:model_fn.")
    place, _, name = text.partition(":")
    module = _imported(place, option)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            near = difflib.get_close_matches(
                part, [one for one in dir(found) if not one.startswith("_")], n=3, cutoff=0.4
            )
            told = f" The nearest names are {near}." if near else ""
            raise UsageError(f"{option} {text}: {place} has no {part!r}.{told}")
        found = getattr(found, part)
    return found


def _imported(place: str, option: str) -> Any:
    folder, name = os.getcwd(), place
    if place.endswith(".py"):
        if not os.path.isfile(place):
            raise UsageError(f"{option}: there is no file {place}.")
        folder, name = os.path.dirname(os.path.abspath(place)), os.path.splitext(os.path.basename(place))[0]
    places = places_of(folder, os.getcwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    program = look_at(place, "", places, None) if place.endswith(".py") else look_at_module(name, places, None)
    open_doors(program)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise UsageError(
            f"{option}: there is no module {name!r}. Modules are looked for in {folder} and in what is installed."
        ) from None
