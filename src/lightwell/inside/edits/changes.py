"""The edits of one build of a model.

Turns edits into functions for the gate that every value passes, and adds to the built program what a run needs: the
numbers of the edits, and a hook that warns where one changed nothing. An edit that met no value is an error before any
step.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import WrongType
from lightwell.inside.edits.base import At, Edit
from lightwell.inside.edits.edit_numbers import SCOPE, EditPlaceholders, EditVariables
from lightwell.inside.edits.matching import check_selection, is_selected, raise_unmatched
from lightwell.inside.edits.measure import EditedValue, WarnIfNothingChanged, counts
from lightwell.inside.paths.catalogue import Catalogue, section_of
from lightwell.model.interop.initial_values import seed_from
from lightwell.model.layers.gate import Passing
from lightwell.model.layers.per_graph import replica_number
from lightwell.run.engine.program import Program


def checked_edits(edits: Any, where: str) -> tuple[Edit, ...]:
    """The argument `edits` as a tuple: none, one, or several.

    Raises:
        WrongType: something else.
    """
    if edits is None:
        return ()
    listed = (edits,) if isinstance(edits, Edit) else edits
    if not isinstance(listed, list | tuple):
        raise WrongType(f"{where} takes a list of edits, as [lw.zero('layers/dense', unit=3)]; got {edits!r}.")
    for one in listed:
        if not isinstance(one, Edit):
            raise WrongType(
                f"{where}: an edit is made by lw.zero, scale, add, replace, noise, clip or apply; got {one!r}."
                + (" A function of a tensor is applied with lw.apply(path, function)." if callable(one) else "")
            )
    return tuple(listed)


class Changes:
    """The edits of one build.

    Args:
        edits: in the order in which they apply.
        mode: a `ModeKeys` value.
        where: who asks, for errors: `"predict(edits=...)"`.
        numbers: the storage of their numbers.

    Attributes:
        gate: what the gate calls with each value that passes.

    Raises:
        UsageError, PathError: an edit names what is not changed on its way, or not in this mode.
    """

    def __init__(self, edits: Sequence[Edit], mode: str, where: str, numbers: EditVariables | EditPlaceholders) -> None:
        self.edits = tuple(edits)
        self.mode = mode
        self.where = where
        self.numbers = numbers
        for edit in self.edits:
            check_selection(edit.path, mode, f"{where}: {edit!r}")
        self.gate = tuple(_AtGate(self, place, edit) for place, edit in enumerate(self.edits))

    def finished(self, program: Program) -> Program:
        """The program that was built, with what its run needs.

        Raises:
            PathError: an edit met no value.
        """
        if not self.gate:
            return program
        catalogue = Catalogue(program)
        met = [path for one in self.gate for path in one.offered]
        for one in self.gate:
            if not one.met:
                raise_unmatched(catalogue, one.edit.path, met, one.where)
        inputs = program.inputs
        if isinstance(self.numbers, EditVariables):
            inputs = self.numbers.with_numbers(inputs)
        return dataclasses.replace(program, inputs=inputs)

    def counts(self, program: Program) -> dict[str, Any]:
        """Of each edit, by its place, a tensor with how many numbers it changed, of how many."""
        with program.graph.as_default():
            return counts({str(place): one.met for place, one in enumerate(self.gate)})

    def observers(self, program: Program) -> list[Any]:
        """Hooks that look at what the edits change."""
        by_place = self.counts(program)
        names = {place: repr(self.edits[int(place)]) for place in by_place}
        paths = {names[place]: self.paths(int(place)) for place in by_place}
        by_name = {names[place]: by_place[place] for place in by_place}
        return [WarnIfNothingChanged(self.where, by_name, paths)] if by_place else []

    def paths(self, place: int) -> list[str]:
        """The paths that an edit met."""
        return list(dict.fromkeys(one.path for one in self.gate[place].met))


class _AtGate:
    """One edit at the gate of one build.

    Attributes:
        met: the values it changed, in order.
        offered: the paths of all values that passed.
    """

    def __init__(self, changes: Changes, place: int, edit: Edit) -> None:
        self._changes = changes
        self._place = place
        self.edit = edit
        self.where = f"{changes.where}: {edit!r}"
        self.met: list[EditedValue] = []
        self.offered: list[str] = []

    def __call__(self, passing: Passing) -> Any:
        """The value after the edit."""
        if not self._is_selected(passing):
            return passing.value
        if isinstance(passing.value, tf.Variable):  # a layer may be called on one
            passing = dataclasses.replace(passing, value=tf.convert_to_tensor(passing.value))
        return self._changed(passing)

    def together(self, passing: Sequence[Passing]) -> list[Any]:
        """The same for values that pass at once: the gradients that an optimizer applies."""
        selected = [one for one in passing if self._is_selected(one)]
        with tf.name_scope(SCOPE):
            changed = self.edit.changed_together([self._at(one) for one in selected])
        if changed is None:
            after = {id(one): self._changed(one) for one in selected}
        else:
            after = {id(one): self._noted(one, value) for one, value in zip(selected, changed, strict=True)}
        return [after.get(id(one), one.value) for one in passing]

    def _changed(self, passing: Passing) -> Any:
        with tf.name_scope(SCOPE):
            return self._noted(passing, self.edit.changed(passing.value, self._at(passing)))

    def _is_selected(self, passing: Passing) -> bool:
        self.offered.append(passing.path)
        return is_selected(self.edit.path, passing)

    def _at(self, passing: Passing) -> At:
        section = section_of(passing.path)
        seed, replica = tf.compat.v1.get_default_graph().seed, replica_number()
        drawn = ("edit", self._place, passing.path, *([replica] if replica else []))
        return At(
            passing,
            self._changes.mode,
            by_example=section is not None and section.has_examples,
            numbers=self._changes.numbers.of(self._place, passing.path, self._changes.edits),
            seed=None if seed is None else seed_from(seed, *drawn),
            where=self.where,
        )

    def _noted(self, passing: Passing, after: Any) -> Any:
        self.met.append(EditedValue(passing.path, passing.value, after))
        return after
