"""Variables by their names in a checkpoint: the model's weights, and the optimizer's state (slots)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.foreign import private_tf
from lightwell.inside.paths.on_disk import OnDisk, StoredValue
from lightwell.inside.paths.sections.base import Entry, Section, named_tensors
from lightwell.run.engine.program import Program
from lightwell.run.hooks.base import Late

if TYPE_CHECKING:
    from lightwell.inside.paths.catalogue import Catalogue


class Variables(Section):
    """Values that a training step changes: what is read is what the step left."""

    is_stored = True

    def fetches(self, program: Program, entries: Sequence[Entry], where: str) -> dict[str, Any]:
        return {entry.path: after_the_step(program, entry.tensor) for entry in entries}

    def fetches_outside_step(self, program: Program, entries: Sequence[Entry], where: str) -> dict[str, Any]:
        return {entry.path: readable(entry.tensor) for entry in entries}

    def _entries_of(self, variables: Sequence[Any]) -> dict[str, Entry]:
        named = {f"{self.name}/{private_tf.variable_name(variable)}": variable for variable in variables}
        return named_tensors(self, named)

    def _stored(self, on_disk: OnDisk, names: Sequence[str]) -> list[StoredValue]:
        owners = {weight.name: layer for layer in reversed(on_disk.description.layers) for weight in layer.weights}
        return [StoredValue(f"{self.name}/{name}", layer=owners.get(name), variables=(name,)) for name in names]


class Weights(Variables):
    """What is trained, and what else a model keeps (moving averages)."""

    name = "weights"
    also_called = ("parameters", "params", "variable", "variables", "vars", "weight")
    absent = "this model has no variables."

    def entries(self, catalogue: Catalogue) -> dict[str, Entry]:
        return self._entries_of(catalogue.variables[0])

    def stored_values(self, on_disk: OnDisk) -> list[StoredValue]:
        return self._stored(on_disk, on_disk.weights)


class Slots(Variables):
    """What an optimizer keeps for itself."""

    name = "slots"
    also_called = ("optimizer", "slot")
    absent = "the optimizer of this model keeps no state."
    modes = (ModeKeys.TRAIN,)
    absent_elsewhere = (
        "optimizer state is loaded in training only. Read it with est.weights.slots, or watch it in train."
    )

    def entries(self, catalogue: Catalogue) -> dict[str, Entry]:
        return self._entries_of(catalogue.variables[1])

    def stored_values(self, on_disk: OnDisk) -> list[StoredValue]:
        return self._stored(on_disk, on_disk.slots)


def after_the_step(program: Program, variable: Any) -> Any:
    """The fetch of a variable that gives what the step left in it.

    Where the graph can grow, a read that waits for the step, and runs with it however steps are run. Where it cannot, a
    run of its own once the step is over: the variable's own read may come before the step changes it.
    """
    if program.mode != ModeKeys.TRAIN:
        return readable(variable)
    if program.graph.finalized:
        return Late(variable)
    with tf.control_dependencies([program.spec.train_op]):
        return tf.identity(_read(variable))


def readable(variable: Any) -> Any:
    """What a session can fetch of a variable: itself, or a read where each replica of a strategy has one."""
    return variable if len(private_tf.parts_of(variable)) == 1 else _read(variable)


def _read(variable: Any) -> Any:
    """A read of a variable; where each replica has one, of what a checkpoint would have of it."""
    parts = private_tf.parts_of(variable)
    if len(parts) == 1:
        return variable.read_value()
    is_joined = variable.synchronization == tf.VariableSynchronization.ON_READ
    if not is_joined or variable.aggregation not in (tf.VariableAggregation.MEAN, tf.VariableAggregation.SUM):
        return parts[0].read_value()
    total = tf.add_n([part.read_value() for part in parts])
    return total / len(parts) if variable.aggregation == tf.VariableAggregation.MEAN else total


WEIGHTS, SLOTS = Weights(), Slots()
