"""A request: the values that a watch, tap or hook reads of a program, and their fetches.

Takes selections and reductions, gives one flat dict of tensors to fetch and the way back from fetched arrays to values
by name. Everything a request needs is in the graph before the graph is final.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from lightwell.errors import PathError, UsageError
from lightwell.inside.paths.catalogue import Catalogue
from lightwell.inside.paths.reductions import Reduction
from lightwell.inside.paths.replicas import fetches_over_replicas
from lightwell.inside.paths.sections.base import Entry
from lightwell.inside.paths.sections.variables import readable
from lightwell.inside.paths.select import Choice, Selection, select
from lightwell.run.engine.program import Program
from lightwell.run.hooks.base import Late


@dataclass(frozen=True, eq=False)
class TapItem:
    """One value of a request.

    Attributes:
        key: the name of the value in the result.
        entry: what it is.
        reduction: how it is reduced, if it is.
        is_reduced: whether the reduction is in the graph; else it is done with the fetched array.
    """

    key: str
    entry: Entry
    reduction: Reduction | None
    is_reduced: bool = False

    def value(self, fetched: Any) -> Any:
        """The value to hand out for what was fetched."""
        if self.reduction is None:
            return fetched
        return self.reduction.read(fetched) if self.is_reduced else self.reduction.of_array(fetched)


@dataclass(frozen=True, eq=False)
class TapRequest:
    """What to fetch, and how to read it.

    Attributes:
        items: the values to read, in order.
        fetches: key to the tensor to fetch with the step.
        updates: key to what reads the variable whose change is read. The fetch of the same key is its value after the
            step.
        late: key to a tensor that must be fetched by itself once the step is over: a metric's value so far.
    """

    items: tuple[TapItem, ...] = ()
    fetches: Mapping[str, Any] = field(default_factory=dict)
    updates: Mapping[str, Any] = field(default_factory=dict)
    late: Mapping[str, Any] = field(default_factory=dict)

    def values(self, fetched: Mapping[str, Any]) -> dict[str, Any]:
        """Values by key, reductions as their records; `fetched` may leave some out."""
        return {item.key: item.value(fetched[item.key]) for item in self.items if item.key in fetched}


def as_list(taps: Any) -> list[Any]:
    """What a user gave for `taps`, one selection or several, as a list."""
    is_one = isinstance(taps, str | Reduction | type) or callable(taps) or not isinstance(taps, Iterable)
    return [taps] if is_one else list(taps)


def key_of(taps: Any) -> Any:
    """What tells one request for taps from another: equal for the same paths and reductions, whoever wrote them."""
    if isinstance(taps, Reduction):
        return (taps.name, taps.settings, key_of(taps.selection))
    return tuple(key_of(one) for one in taps) if isinstance(taps, list | tuple) else taps


def is_plain(taps: Any) -> bool:
    """Whether a request for taps says by itself what it means; of a function that chooses nobody knows."""
    if isinstance(taps, Reduction):
        return is_plain(taps.selection)
    if isinstance(taps, list | tuple):
        return all(map(is_plain, taps))
    return taps is None or isinstance(taps, str | type)


def make_request(
    program: Program,
    selections: Sequence[Selection | Reduction],
    where: str,
    *,
    as_taps: bool = False,
    by_example: bool = False,
) -> TapRequest:
    """Resolves selections and adds what they need to the graph.

    Args:
        program: what will run.
        selections: selections and reductions.
        where: who asks, for errors.
        as_taps: the values are results of `predict` or `evaluate`; nothing is read before or after a step.
        by_example: only values with a row for each example are allowed.

    Raises:
        PathError: a selection means nothing in this program, or the loss does not depend on what it names.
        UsageError: a value is selected both raw and reduced, cannot be reduced, or cannot be a tap.
    """
    catalogue = Catalogue(program)
    use = _Use(as_taps, by_example)
    chosen_lists = [
        (_chosen(catalogue, one, where, use), one if isinstance(one, Reduction) else None) for one in selections
    ]
    chosen: dict[str, tuple[Choice, Reduction | None]] = {}
    for choices, reduction in chosen_lists:
        for choice in choices:
            if choice.key in chosen and chosen[choice.key][1] is not reduction:
                raise UsageError(
                    f"{where}: {choice.key!r} is asked for twice, in different forms. Use one watch for the raw value "
                    "and another for its statistics."
                )
            chosen[choice.key] = (choice, reduction)
    fetches_by_key = make_fetches(program, [choices for choices, _ in chosen_lists], where)
    return _ready(program, list(chosen.values()), fetches_by_key)


def make_fetches(
    program: Program, selected: Sequence[Sequence[Choice]], where: str, *, outside_step: bool = False
) -> dict[str, Any]:
    """The fetches of choices, by key: tensors, and `Late` ones. Measured values have none.

    Args:
        program: the program; its graph may still grow.
        selected: the choices of each selection.
        where: who asks, for errors.
        outside_step: the fetches run by themselves, and must not run a step.

    Raises:
        PathError: what the user named does not exist, or nothing of a selection does.
    """
    choices = {choice.key: choice for chosen in selected for choice in chosen}
    fetches: dict[str, Any] = {}
    with program.graph.as_default(), tf.name_scope("lightwell/sight"):
        for section in {choice.entry.section: None for choice in choices.values()}:
            entries = {one.entry.path: one.entry for one in choices.values() if one.entry.section is section}
            make = section.fetches_outside_step if outside_step else section.fetches
            fetches.update(fetches_over_replicas(program, section, list(entries.values()), make, where, _same_entry))
    for chosen in selected:
        missing = [one for one in chosen if one.entry.path not in fetches and not one.entry.section.is_measured]
        for choice in missing:
            if choice.is_named or len(missing) == len(chosen):
                raise PathError(f"{where}: {choice.entry.section.why_not_fetched(choice.entry)}")
    return {key: fetches[choice.entry.path] for key, choice in choices.items() if choice.entry.path in fetches}


def _same_entry(program: Program, entry: Entry) -> Entry:
    """What another replica's program has under the path of an entry."""
    return Catalogue(program).section(entry.section)[entry.path]


@dataclass(frozen=True)
class _Use:
    """The purpose that values are read for."""

    as_taps: bool
    by_example: bool


def _chosen(catalogue: Catalogue, one: Selection | Reduction, where: str, use: _Use) -> list[Choice]:
    """What a selection means; of a set that is to be reduced or tapped, what can be."""
    selection = one.selection if isinstance(one, Reduction) else one
    choices = select(catalogue, selection, where)
    problems = {choice.key: problem for choice in choices if (problem := _problem(choice, one, use))}
    for choice in choices:
        if choice.key in problems and (choice.is_named or len(problems) == len(choices)):
            raise UsageError(f"{where}: {problems[choice.key]}")
    return [choice for choice in choices if choice.key not in problems]


def _problem(choice: Choice, one: Selection | Reduction, use: _Use) -> str:
    section = choice.entry.section
    if use.as_taps and section.not_tapped:
        return f"{choice.key!r} {section.not_tapped}"
    if use.by_example and section.not_captured:
        return f"{choice.key!r} {section.not_captured}"
    if use.by_example and not (choice.entry.by_example and choice.entry.may_have_rows):
        return (
            f"{choice.key!r} has no row for each example: it belongs to a whole batch, or to the model. Read it with "
            "evaluate(taps=...) or predict(taps=...), where it stands in row.batch."
        )
    if isinstance(one, Reduction) and not section.holds_numbers(choice.entry):
        return f"{one.spelled} needs numbers, and {choice.key!r} holds {choice.entry.prototype.dtype.name}."
    return ""


def _ready(
    program: Program, chosen: list[tuple[Choice, Reduction | None]], fetches_by_key: Mapping[str, Any]
) -> TapRequest:
    late = {key: fetch.tensor for key, fetch in fetches_by_key.items() if isinstance(fetch, Late)}
    fetches = {key: fetch for key, fetch in fetches_by_key.items() if key not in late}
    items = []
    for choice, reduction in chosen:
        section = choice.entry.section
        if choice.key in fetches_by_key or section.is_measured:
            can_be = choice.key in fetches and not section.is_a_change and not program.graph.finalized
            items.append(TapItem(choice.key, choice.entry, reduction, can_be and reduction is not None))
    reductions = _reduced_in(program.graph)
    with program.graph.as_default(), tf.name_scope("lightwell/sight"):
        updates = {item.key: readable(item.entry.prototype) for item in items if item.entry.section.is_a_change}
        reduced = {
            item.key: reductions.tensor(item.reduction, fetches[item.key], item.entry)
            for item in items
            if item.reduction is not None and item.is_reduced
        }
    return TapRequest(tuple(items), {**fetches, **reduced}, updates, late)


class _Reduced:
    """The reductions in the graph of a program. Hundreds of watches may ask for the same few: each is built once."""

    def __init__(self) -> None:
        self._builds: dict[Any, Callable[[Any, Any], Any]] = {}
        self._tensors: dict[Any, Any] = {}

    def tensor(self, reduction: Reduction, value: Any, entry: Entry) -> Any:
        """What a reduction makes of the value of an entry, in the default graph."""
        kind = (reduction.name, reduction.settings)
        parts = tuple(part.name for part in tf.nest.flatten(value, expand_composites=True))
        if (kind, entry.path, parts) not in self._tensors:
            if kind not in self._builds:
                self._builds[kind] = reduction.builder()
            self._tensors[kind, entry.path, parts] = self._builds[kind](value, entry)
        return self._tensors[kind, entry.path, parts]


def _reduced_in(graph: tf.Graph) -> _Reduced:
    """Those of a graph, which holds them itself and goes with them. A collection of this key is in no meta graph."""
    cached = graph.get_collection_ref(("lightwell", "reduced"))
    if not cached:
        cached.append(_Reduced())
    reductions: _Reduced = cached[0]
    return reductions
