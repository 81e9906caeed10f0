"""A request: what somebody wants to read of a program, made ready to be fetched.

Takes selections and reductions, gives one flat dict of tensors to fetch and the way back from fetched arrays to values
by name. Everything a request needs is in the graph before the graph is final.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.errors import UsageError
from lightwell.keys import ModeKeys
from lightwell.sight.catalogue import Catalogue, Entry
from lightwell.sight.derived import independent, make_gradients
from lightwell.sight.reductions import Reduction, holds_numbers
from lightwell.sight.select import Choice, Selection, select


@dataclass(frozen=True, eq=False)
class Wanted:
    """One value of a request.

    Attributes:
        key: the name under which it is handed out.
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
class Request:
    """What to fetch, and how to read it.

    Attributes:
        wanted: the values asked for, in order.
        fetches: key to the tensor to fetch with the step.
        updates: key to the variable whose change is asked for. The fetch of the same key is its value after the step.
        late: key to a tensor that must be fetched by itself once the step is over: a metric's value so far.
    """

    wanted: tuple[Wanted, ...] = ()
    fetches: Mapping[str, Any] = field(default_factory=dict)
    updates: Mapping[str, Any] = field(default_factory=dict)
    late: Mapping[str, Any] = field(default_factory=dict)

    def values(self, fetched: Mapping[str, Any]) -> dict[str, Any]:
        """Values by key, reductions as their records; `fetched` may leave some out."""
        return {item.key: item.value(fetched[item.key]) for item in self.wanted if item.key in fetched}


def as_list(taps: Any) -> list[Any]:
    """What a user gave for `taps`, one selection or several, as a list."""
    return [taps] if isinstance(taps, str | Reduction | type) or callable(taps) else list(taps)


def key_of(taps: Any) -> Any:
    """What tells one request for taps from another: equal for the same paths and reductions, whoever wrote them."""
    if isinstance(taps, Reduction):
        return (taps.name, taps.settings, key_of(taps.selection))
    return tuple(key_of(one) for one in taps) if isinstance(taps, list | tuple) else taps


def make_request(program: Program, asked: Sequence[Selection | Reduction], where: str) -> Request:
    """Makes a request ready.

    Raises:
        PathError: a selection means nothing in this program, or the loss does not depend on what it names.
        UsageError: a value is asked for both raw and reduced, or cannot be reduced.
    """
    catalogue = Catalogue(program)
    chosen: dict[str, tuple[Choice, Reduction | None]] = {}
    for one in asked:
        reduction = one if isinstance(one, Reduction) else None
        for choice in _chosen(catalogue, one, where):
            if choice.key in chosen and chosen[choice.key][1] is not reduction:
                raise UsageError(
                    f"{where}: {choice.key!r} is asked for twice, in different forms. Use one watch for the raw value "
                    "and another for its statistics."
                )
            chosen[choice.key] = (choice, reduction)
    return _ready(program, list(chosen.values()), where)


def _chosen(catalogue: Catalogue, one: Selection | Reduction, where: str) -> list[Choice]:
    """What a selection means; of a set that is to be reduced, the numbers in it."""
    if not isinstance(one, Reduction):
        return select(catalogue, one, where)
    choices = select(catalogue, one.selection, where)
    reducible = [choice for choice in choices if _is_reducible(choice.entry)]
    for choice in choices:
        if choice not in reducible and (choice.is_named or not reducible):
            dtype = choice.entry.tensor.dtype.name
            raise UsageError(f"{where}: {one.name}(...) needs numbers, and {choice.key!r} holds {dtype}.")
    return reducible


def _is_reducible(entry: Entry) -> bool:
    value = entry.tensor if entry.source is None else entry.source.tensor
    return entry.section != "timing" and holds_numbers(value)


def _ready(program: Program, chosen: list[tuple[Choice, Reduction | None]], where: str) -> Request:
    derived = [choice.entry for choice, _ in chosen if choice.entry.section == "gradients"]
    gradients = make_gradients(program, derived, where)
    wanted = []
    for choice, reduction in chosen:
        if choice.entry.section != "gradients" or choice.entry.path in gradients:
            is_reduced = reduction is not None and _reduces_in_graph(program, choice.entry)
            wanted.append(Wanted(choice.key, choice.entry, reduction, is_reduced))
        elif choice.is_named:
            raise independent(choice.entry.path, where)
    if chosen and not wanted:
        raise independent(chosen[0][0].entry.path, where)
    builds = {id(item.reduction): item.reduction.builder() for item in wanted if item.reduction is not None}
    with program.graph.as_default(), tf.name_scope("lightwell/sight"):
        return Request(
            tuple(wanted),
            fetches={i.key: _fetch(program, i, gradients, builds) for i in wanted if not _is_apart(i.entry)},
            updates={item.key: source.tensor for item in wanted if (source := _changed(item.entry)) is not None},
            late={item.key: item.entry.tensor for item in wanted if item.entry.section == "metrics"},
        )


def _reduces_in_graph(program: Program, entry: Entry) -> bool:
    return not program.graph.finalized and entry.section not in ("updates", "metrics", "timing")


def _is_apart(entry: Entry) -> bool:
    """Whether a value is not fetched with the step: it is measured, or known only afterwards."""
    return entry.section in ("metrics", "timing")


def _changed(entry: Entry) -> Entry | None:
    """The weight whose change is asked for."""
    return entry.source if entry.section == "updates" else None


def _fetch(program: Program, item: Wanted, gradients: Mapping[str, Any], builds: Mapping[int, Any]) -> Any:
    entry = item.entry
    tensor = gradients[entry.path] if entry.section == "gradients" else read_of(program, entry)
    return builds[id(item.reduction)](tensor) if item.is_reduced else tensor


def read_of(program: Program, entry: Entry) -> Any:
    """The tensor to fetch for an entry; of a weight, its value once the step has changed it."""
    variable = entry.tensor if entry.source is None else entry.source.tensor
    changes = entry.section in ("weights", "slots", "updates") and program.mode == ModeKeys.TRAIN
    if not changes or program.graph.finalized:
        return variable
    with tf.control_dependencies([program.spec.train_op]):
        return tf.identity(variable.read_value())
