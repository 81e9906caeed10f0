"""A request: what somebody wants to read of a program, made ready to be fetched.

Takes selections and reductions, gives one flat dict of tensors to fetch and the way back from fetched arrays to values
by path. Everything a request needs is in the graph before the graph is final.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.errors import UsageError
from lightwell.keys import ModeKeys
from lightwell.sight.catalogue import Catalogue, Entry
from lightwell.sight.derived import with_gradients
from lightwell.sight.reductions import Reduction
from lightwell.sight.select import Selection, select


@dataclass(frozen=True, eq=False)
class Wanted:
    """One path of a request: its entry, and how it is reduced, if it is."""

    entry: Entry
    reduction: Reduction | None

    @property
    def path(self) -> str:
        """The path under which the value is handed out."""
        return self.entry.path


@dataclass(frozen=True, eq=False)
class Request:
    """What to fetch, and how to read it.

    Attributes:
        wanted: the paths asked for, in order.
        fetches: path to the tensor to fetch, for those that come from the graph.
        updates: path to the variable whose change is asked for.
    """

    wanted: tuple[Wanted, ...]
    fetches: dict[str, Any]
    updates: dict[str, Any]

    def values(self, fetched: Mapping[str, Any]) -> dict[str, Any]:
        """Values by path, reductions read back into their records."""
        result = {}
        for item in self.wanted:
            if item.path in fetched:
                raw = fetched[item.path]
                result[item.path] = raw if item.reduction is None else item.reduction.read(raw)
        return result


def make_request(program: Program, asked: Sequence[Selection | Reduction], where: str) -> Request:
    """Makes a request ready.

    Raises:
        PathError: a selection means nothing in this program.
        UsageError: one path is asked for both raw and reduced.
    """
    catalogue = Catalogue(program)
    wanted: dict[str, Wanted] = {}
    for one in asked:
        reduction = one if isinstance(one, Reduction) else None
        entries = select(catalogue, one.selection if isinstance(one, Reduction) else one, where)
        for entry in with_gradients(program, entries, where):
            if entry.path in wanted and wanted[entry.path].reduction is not reduction:
                raise UsageError(
                    f"{where}: {entry.path!r} is asked for twice, in different forms. Use one watch for the raw value "
                    "and another for its statistics."
                )
            wanted[entry.path] = Wanted(entry, reduction)
    return _ready(program, tuple(wanted.values()), where)


def _ready(program: Program, wanted: tuple[Wanted, ...], where: str) -> Request:
    fetches: dict[str, Any] = {}
    updates: dict[str, Any] = {}
    with program.graph.as_default(), tf.name_scope("lightwell/sight"):
        for item in wanted:
            entry = item.entry
            if entry.section == "timing":
                continue
            if entry.section == "updates" and entry.source is not None:
                updates[entry.path] = entry.source.tensor
                if item.reduction is not None:
                    raise UsageError(
                        f"{where}: stats of updates are not computed in the graph; ask for {entry.path!r} raw."
                    )
                continue
            tensor = _read(program, entry)
            fetches[entry.path] = tensor if item.reduction is None else item.reduction.build(tensor)
    return Request(wanted, fetches, updates)


def _read(program: Program, entry: Entry) -> Any:
    """The tensor to fetch; weights are read once the step has changed them, so that a value is that of its step."""
    if entry.section not in ("weights", "slots"):
        return entry.tensor
    if program.mode != ModeKeys.TRAIN or program.graph.finalized:
        return entry.tensor
    with tf.control_dependencies([program.spec.train_op]):
        return tf.identity(entry.tensor.read_value())
