"""What `input_fn` and `model_fn` hand over as structures of tensors: features, labels, predictions.

A name inside such a structure means all that is below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.inside.paths.on_disk import OnDisk, StoredValue
from lightwell.inside.paths.sections.base import AnyPathValue, Entry, Section, below, named_tensors
from lightwell.run.engine.program import Program

if TYPE_CHECKING:
    from lightwell.inside.paths.catalogue import Catalogue


class Structure(Section):
    """Keys and positions joined by `/`; a lone tensor has the section's name."""

    has_examples = True
    is_by_replica = True
    is_stored = True

    def entries(self, catalogue: Catalogue) -> dict[str, Entry]:
        return named_tensors(self, dict(_leaves(self.name, self._structure(catalogue.program))))

    def stored_values(self, on_disk: OnDisk) -> list[StoredValue]:
        return [StoredValue(value.path, value=value) for value in getattr(on_disk.description, self.name)]

    def why_missing(self, path: str, catalogue: Catalogue) -> str:
        """What the input gives as a plain Python value reaches `model_fn` as that."""
        for name, value in _leaves(self.name, self._structure(catalogue.program), of=_is_plain):
            if name == path or name.startswith(f"{path}/"):
                is_part = "" if name == path else f" ({name!r} and what else is below it)"
                return (
                    f"it is no tensor but {_described(value)}{is_part}, which model_fn gets as it is, as in "
                    "tf.estimator, and only tensors have paths. Give it as tf.constant(...), with a row for each "
                    "example, or as an array in a tf.data.Dataset."
                )
        return ""

    def _structure(self, program: Program) -> Any:
        raise NotImplementedError

    def _resolve_loosely(self, path: str, known: Mapping[str, AnyPathValue]) -> list[AnyPathValue]:
        return below(path, known)


class Features(Structure):
    """What `input_fn` gave."""

    name = "features"
    also_called = ("feature", "input", "inputs")
    absent = "input_fn gave no features."

    def _structure(self, program: Program) -> Any:
        return program.inputs.features


class Labels(Structure):
    """What `input_fn` gave to learn from."""

    name = "labels"
    also_called = ("label", "target", "targets")
    absent = "input_fn gave no labels."
    modes = (ModeKeys.TRAIN, ModeKeys.EVAL)
    absent_elsewhere = "predict() drops the labels. Use evaluate or train, or put them among the features."

    def _structure(self, program: Program) -> Any:
        return program.inputs.labels


class Predictions(Structure):
    """What `model_fn` declared as predictions."""

    name = "predictions"
    also_called = ("prediction",)
    absent = "model_fn declared no predictions in this mode."

    def _structure(self, program: Program) -> Any:
        return program.spec.predictions


def _leaves(path: str, value: Any, of: Callable[[Any], bool] = tf.is_tensor) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(f"{path}/{key}", part, of)
    elif hasattr(value, "_asdict"):
        yield from _leaves(path, value._asdict(), of)
    elif isinstance(value, tuple | list):
        for index, part in enumerate(value):
            yield from _leaves(f"{path}/{index}", part, of)
    elif of(value):
        yield path, value


def _is_plain(value: Any) -> bool:
    return value is not None and not tf.is_tensor(value)


def _described(value: Any) -> str:
    shown = repr(value)
    return f"the {type(value).__name__} {shown}" if len(shown) < 40 else f"a value of the type {type(value).__name__}"


FEATURES, LABELS, PREDICTIONS = Features(), Labels(), Predictions()
