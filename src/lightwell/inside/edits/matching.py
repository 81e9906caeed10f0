"""Matching edits with the values that pass the gate, and errors for edits that match none.

Taps are resolved in the finished model; an edit is matched while the model is built, value by value as they pass.
What is finished then tells what a path that met no value should have been.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lightwell.base.keys import ModeKeys
from lightwell.errors import PathError, UsageError, WrongType
from lightwell.inside.paths.catalogue import Catalogue, section_of
from lightwell.inside.paths.missing import layers_of, why_missing
from lightwell.inside.paths.nearest import nearest_paths
from lightwell.inside.paths.patterns import with_first_call
from lightwell.inside.paths.replicas import replica_in
from lightwell.inside.paths.sections.base import Entry, Section
from lightwell.inside.paths.sections.declared import LOSS
from lightwell.inside.paths.sections.gradients import GRADIENTS
from lightwell.inside.paths.sections.layers import LAYERS
from lightwell.inside.paths.sections.structures import FEATURES, LABELS
from lightwell.inside.paths.select import select
from lightwell.model.layers.gate import Passing

_CHANGED = (FEATURES, LABELS, LAYERS, GRADIENTS, LOSS)
# Why what can be read in a section is not changed on its way.
_NOT_CHANGED = {
    "weights": "weights are changed at rest, not on their way: with est.edit() as w: w[...] = array, which is a new "
    "checkpoint",
    "slots": "what an optimizer keeps is changed at rest: est.edit()",
    "updates": "what a step changes follows from the gradients; edit 'gradients/weights/…'",
    "predictions": "predictions are what the model gives; edit the layer that they are made of",
    "metrics": "metrics are what an evaluation gives; edit the labels or a layer",
    "learning_rate": "the learning rate is the optimizer's; scale its gradients with lw.scale('gradients/*', …)",
    "global_step": "the step counter is kept by the training",
    "collections": "a member of a collection is read only; edit the feature or the layer that it is",
    "tensors": "a tensor of the graph is read only; what is changed is a feature, a label, the input or output of a "
    "layer, a gradient or the loss",
    "timing": "it is measured",
}


@dataclass(frozen=True)
class _PassingValue:
    """What is known of a value by its path."""

    path: str
    is_input: bool = False


def is_selected(selection: Any, passing: Passing) -> bool:
    """Whether a selection means a value that passes."""
    if isinstance(selection, str):
        return any(_is_named(selection, _PassingValue(path, passing.is_input)) for path in _spellings(passing))
    call = passing.call
    if isinstance(selection, type):
        is_kind = call is not None and (isinstance(call.layer, selection) or call.kind == selection.__name__)
        return is_kind and not passing.is_input
    if callable(selection):
        section = section_of(passing.path) or LAYERS
        return bool(selection(Entry(passing.path, section, passing.value, call, passing.is_input)))
    return any(is_selected(one, passing) for one in selection)


def check_selection(selection: Any, mode: str, where: str) -> None:
    """Fails before anything is built on a selection that cannot mean a value in this mode.

    Raises:
        UsageError, PathError: it names values that are not changed on their way, or not in this mode.
        WrongType: not a selection.
    """
    if isinstance(selection, str):
        plain, replica = replica_in(selection)
        if replica is not None:
            raise UsageError(
                f"{where}: an edit changes a value wherever it passes, on every replica of the model. Write {plain!r}, "
                f"without @replica:{replica}."
            )
        section = section_of(selection)
        if section is not None:
            _check_section(section, selection, mode, where)
    elif isinstance(selection, Iterable) and not isinstance(selection, type):
        for one in selection:
            check_selection(one, mode, where)
    elif not isinstance(selection, type) and not callable(selection):
        raise WrongType(
            f"{where}: a selection is a path, a glob, a layer class, a predicate or a list of those, got {selection!r}."
        )


def raise_unmatched(catalogue: Catalogue, selection: Any, met: Iterable[str], where: str) -> None:
    """Says why a selection met no value.

    Args:
        catalogue: the paths of the finished model.
        selection: what the user wrote.
        met: the paths of all values that passed.
        where: who asks.

    Raises:
        PathError: always.
    """
    known = list(dict.fromkeys(met))
    if isinstance(selection, str):
        entries = catalogue.find(selection)
        if not entries:
            close = [] if catalogue.why_missing(selection) else nearest_paths(selection, known, globs=True)
            if close:
                raise PathError(f"{where}: {selection!r} names nothing in this model. Did you mean {_listed(close)}?")
            raise PathError(why_missing(catalogue, selection, where))
        entry = entries[0]
        if section_of(entry.path) not in _CHANGED:
            raise PathError(f"{where}: {entry.path!r} cannot be changed on its way: {_reason(entry.section)}.")
        raise PathError(
            f"{where}: {entry.path!r} can be read, but does not pass where values are changed; those that do are "
            f"{_listed(nearest_paths(selection, known) or known)}."
        )
    select(catalogue, selection, where)
    raise PathError(
        f"{where}: chose none of the values that can be changed; the layers are {layers_of(catalogue)[:20]}."
    )


def _is_named(selection: str, one: _PassingValue) -> bool:
    section = section_of(selection)
    full = selection if section is not None else f"{LAYERS}/{selection}"
    return bool((section or LAYERS).resolve(full, {one.path: one}))


def _spellings(passing: Passing) -> list[str]:
    """The path, and for the first call of a layer the path with its number: whether there is a second is not known."""
    path = passing.path
    if passing.call is None or passing.call.call:
        return [path]
    return [path, with_first_call(path, passing.is_input)]


def _check_section(section: Section, path: str, mode: str, where: str) -> None:
    if section not in _CHANGED:
        raise UsageError(f"{where}: {path!r} cannot be changed on its way: {_reason(section)}.")
    if section is GRADIENTS and mode != ModeKeys.TRAIN:
        raise PathError(
            f"{where}: {path!r} is changed on its way to the optimizer, and only training has one. Give the edit to "
            "train."
        )
    if mode not in section.modes:
        raise PathError(f"{where}: there is no {path!r} in this mode: {section.why_empty(mode)}")
    of = path.partition("/")[2]
    if section is GRADIENTS and of.partition("/")[0] in ("layers", "features"):
        raise PathError(
            f"{where}: {path!r} can be read, but not changed: the gradients of weights are, on their way to the "
            "optimizer ('gradients/weights/…')."
        )


def _reason(section: Section) -> str:
    return _NOT_CHANGED.get(section.name, "it is read only")


def _listed(paths: list[str]) -> str:
    return ", ".join(map(repr, paths[:5]))
