"""Selecting: from what a user writes to the entries it means, or an error that says what was meant.

A selection is a path, a glob (`layers/conv*`), a bare name, a layer class, a predicate over entries, or a list of
those.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from lightwell.errors import PathError, WrongType
from lightwell.sight.catalogue import SECTIONS, STRUCTURES, Catalogue, Entry
from lightwell.sight.missing import why_missing

Selection = Any  # str | type | Callable[[Entry], bool] | Iterable[Selection]


@dataclass(frozen=True, eq=False)
class Choice:
    """An entry that was chosen.

    Attributes:
        key: the name under which its value is handed out: what the user wrote, if that names one value, else its path.
        entry: the entry.
        is_named: whether the user named this very value, rather than a set that holds it.
    """

    key: str
    entry: Entry
    is_named: bool


def select(catalogue: Catalogue, selection: Selection, where: str) -> list[Choice]:
    """All entries that `selection` means, each once, in order.

    Args:
        catalogue: the paths of the program.
        selection: what the user asked for.
        where: who asks, for the error: `"predict(taps=...)"`.

    Raises:
        PathError: it means nothing in this program; the text names the nearest paths or says why there is none.
        WrongType: not a selection.
    """
    return list({choice.key: choice for choice in _select(catalogue, selection, where)}.values())


def find_path(catalogue: Catalogue, path: str) -> list[Entry]:
    """The entries that a path, a glob or a bare name means; none if it names nothing."""
    section = path.partition("/")[0]
    if section in SECTIONS:
        return _in_section(catalogue, section, path)
    return _in_section(catalogue, "layers", f"layers/{path}") or _in_section(catalogue, "tensors", f"tensors/{path}")


def _select(catalogue: Catalogue, selection: Selection, where: str) -> list[Choice]:
    if isinstance(selection, str):
        found = find_path(catalogue, selection)
        if not found:
            raise PathError(why_missing(catalogue, selection, where, find_path))
        if len(found) == 1 and not is_glob(selection):
            return [Choice(selection, found[0], is_named=True)]
        return _choices(found)
    if isinstance(selection, type):
        found = [e for e in catalogue.section("layers").values() if not e.is_input and _is_kind(e, selection)]
        return _choices(found) or _nothing(f"{where}: no layer of this model is a {selection.__name__}.", catalogue)
    if callable(selection):
        found = _by_predicate(catalogue, selection)
        name = getattr(selection, "__name__", repr(selection))
        return _choices(found) or _nothing(f"{where}: the predicate {name} chose none of the paths.", catalogue)
    if isinstance(selection, Iterable):
        return [choice for one in selection for choice in _select(catalogue, one, where)]
    raise WrongType(
        f"{where}: a selection is a path, a glob, a layer class, a predicate or a list of those, got {selection!r}."
    )


def is_glob(path: str) -> bool:
    """Whether a path selects by a pattern; a bracket in a path is the number of an output, no set of characters."""
    return "*" in path or "?" in path


def _choices(entries: list[Entry]) -> list[Choice]:
    return [Choice(entry.path, entry, is_named=False) for entry in entries]


def _in_section(catalogue: Catalogue, section: str, path: str) -> list[Entry]:
    entries = catalogue.section(section)
    if path in entries:
        return [entries[path]]
    if is_glob(path):
        pattern = path.replace("[", "[[]")
        matches = [entry for name, entry in entries.items() if fnmatchcase(name, pattern)]
        # A glob over layers means their outputs; inputs are chosen by saying so.
        return [entry for entry in matches if not entry.is_input or "/input" in path]
    if section == "tensors":
        return [entries[f"{path}:0"]] if f"{path}:0" in entries else []
    if section in STRUCTURES or path in ("collections", "learning_rate"):
        return [entry for name, entry in entries.items() if name.startswith(path + "/")]
    return _loosely(entries, path)


def _loosely(entries: dict[str, Entry], path: str) -> list[Entry]:
    """What a name means that leaves out a number.

    `layers/dense`, where the layer is called twice, is its first call, as `layers/dense:0` is the only call of a layer
    that is called once. `layers/lstm` is all its outputs, `weights/table` all parts of a partitioned variable.
    """
    first_call = re.sub(r"((/input)?(\[\d+\])?)$", r":0\1", path, count=1)
    only_call = re.sub(r":0($|/input|\[)", r"\1", path)
    for candidate in (path, only_call if ":" in path else first_call):
        if candidate in entries:
            return [entries[candidate]]
        numbered = re.compile(re.escape(candidate) + r"(\[\d+\]|/part_\d+)$")
        found = [entry for name, entry in entries.items() if numbered.match(name)]
        if found:
            return found
    return []


def _by_predicate(catalogue: Catalogue, predicate: Callable[[Entry], bool]) -> list[Entry]:
    names = [name for name in SECTIONS if name not in ("tensors", "timing")]
    return [entry for name in names for entry in catalogue.section(name).values() if predicate(entry)]


def _is_kind(entry: Entry, kind: type) -> bool:
    return entry.call is not None and (isinstance(entry.call.layer, kind) or entry.call.kind == kind.__name__)


def _nothing(message: str, catalogue: Catalogue) -> list[Choice]:
    layers = [entry.path for entry in catalogue.section("layers").values() if not entry.is_input]
    raise PathError(f"{message} Its layers are {layers[:20]}.")
