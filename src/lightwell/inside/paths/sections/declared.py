"""Single values that `model_fn` declared or that belong to every model: loss, metrics, learning rate, global step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightwell.base.keys import GLOBAL_STEP, ModeKeys
from lightwell.inside.paths.optimizer_state import learning_rates
from lightwell.inside.paths.sections.base import AnyPathValue, Entry, Section, below, named_tensors
from lightwell.run.engine.program import Program
from lightwell.run.hooks.base import Late

if TYPE_CHECKING:
    from lightwell.inside.paths.catalogue import Catalogue


class Loss(Section):
    """The loss."""

    name = "loss"
    also_called = ("losses",)
    modes = (ModeKeys.TRAIN, ModeKeys.EVAL)
    absent_elsewhere = "prediction computes no loss. Use evaluate or train."

    def entries(self, catalogue: Catalogue) -> dict[str, Entry]:
        loss = catalogue.program.spec.loss
        return {} if loss is None else named_tensors(self, {self.name: loss})


class Metrics(Section):
    """Metrics of an evaluation, as of all batches so far: a step takes its batch in, and the value is read after it."""

    name = "metrics"
    also_called = ("metric",)
    modes = (ModeKeys.EVAL,)
    absent_elsewhere = "metrics are computed in evaluation only. Use evaluate."
    not_tapped = "is in the result of evaluate as it is; there is nothing to tap."

    def entries(self, catalogue: Catalogue) -> dict[str, Entry]:
        evaluation = catalogue.program.evaluation
        values = {} if evaluation is None else evaluation.values
        return named_tensors(self, {f"{self.name}/{key}": one for key, one in values.items() if key != GLOBAL_STEP})

    def fetches(self, program: Program, entries: Sequence[Entry], where: str) -> dict[str, Any]:
        return {entry.path: Late(entry.tensor) for entry in entries}

    def fetches_outside_step(self, program: Program, entries: Sequence[Entry], where: str) -> dict[str, Any]:
        return {entry.path: entry.tensor for entry in entries}


class LearningRate(Section):
    """The learning rate; `learning_rate/<optimizer>` where there are several."""

    name = "learning_rate"
    also_called = ("lr", "learningrate")
    absent = (
        "it cannot be told from this model's train_op. In model_fn, add it to the graph collection "
        "'lightwell/learning_rate'."
    )
    modes = (ModeKeys.TRAIN,)
    absent_elsewhere = "only training has an optimizer. Watch it in train."

    def entries(self, catalogue: Catalogue) -> dict[str, Entry]:
        return named_tensors(self, learning_rates(catalogue.program))

    def _resolve_loosely(self, path: str, known: Mapping[str, AnyPathValue]) -> list[AnyPathValue]:
        return below(path, known)


class GlobalStep(Section):
    """The step counter; in training, counting the step that just ran."""

    name = "global_step"
    also_called = ("step", "steps")

    def entries(self, catalogue: Catalogue) -> dict[str, Entry]:
        program = catalogue.program
        counter = program.global_step if program.step_after is None else program.step_after
        return {} if counter is None else named_tensors(self, {self.name: counter})

    def fetches_outside_step(self, program: Program, entries: Sequence[Entry], where: str) -> dict[str, Any]:
        """`step_after` would run a step."""
        return {entry.path: program.global_step for entry in entries}


LOSS, METRICS, LEARNING_RATE, STEP_COUNTER = Loss(), Metrics(), LearningRate(), GlobalStep()
