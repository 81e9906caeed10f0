"""Selecting: from what a user writes to entries, or an error that names the nearest paths.

A selection is a path, a glob (`layers/conv*`), a bare name, a layer class, a predicate over entries, or a list of
those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from lightwell.errors import PathError, WrongType
from lightwell.inside.paths.catalogue import SECTIONS, Catalogue
from lightwell.inside.paths.missing import layers_of, why_missing
from lightwell.inside.paths.patterns import is_glob
from lightwell.inside.paths.sections.base import Entry
from lightwell.inside.paths.sections.layers import LAYERS

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
    """All entries that a selection matches, each once, in order.

    Args:
        catalogue: the paths of the program.
        selection: what the user wrote.
        where: who asks, for the error: `"predict(taps=...)"`.

    Raises:
        PathError: it means nothing in this program; the text names the nearest paths or says why there is none.
        WrongType: not a selection.
    """
    return list({choice.key: choice for choice in _select(catalogue, selection, where)}.values())


def _select(catalogue: Catalogue, selection: Selection, where: str) -> list[Choice]:
    if isinstance(selection, str):
        entries = catalogue.find(selection)
        if not entries:
            raise PathError(why_missing(catalogue, selection, where))
        if len(entries) == 1 and not is_glob(selection):
            return [Choice(selection, entries[0], is_named=True)]
        return _choices(entries)
    if isinstance(selection, type):
        entries = [e for e in catalogue.section(LAYERS).values() if not e.is_input and _is_kind(e, selection)]
        return _choices(entries) or _nothing(f"{where}: no layer of this model is a {selection.__name__}.", catalogue)
    if callable(selection):
        entries = _by_predicate(catalogue, selection)
        name = getattr(selection, "__name__", repr(selection))
        return _choices(entries) or _nothing(f"{where}: the predicate {name} chose none of the paths.", catalogue)
    if isinstance(selection, Iterable):
        return [choice for one in selection for choice in _select(catalogue, one, where)]
    raise WrongType(
        f"{where}: a selection is a path, a glob, a layer class, a predicate or a list of those, got {selection!r}."
    )


def _choices(entries: list[Entry]) -> list[Choice]:
    return [Choice(entry.path, entry, is_named=False) for entry in entries]


def _by_predicate(catalogue: Catalogue, predicate: Callable[[Entry], bool]) -> list[Entry]:
    offered = [section for section in SECTIONS if section.is_offered]
    return [entry for section in offered for entry in catalogue.section(section).values() if predicate(entry)]


def _is_kind(entry: Entry, kind: type) -> bool:
    return entry.call is not None and (isinstance(entry.call.layer, kind) or entry.call.kind == kind.__name__)


def _nothing(message: str, catalogue: Catalogue) -> list[Choice]:
    raise PathError(f"{message} Its layers are {layers_of(catalogue)[:20]}.")
