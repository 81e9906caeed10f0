"""Predictions that start from values of layers: only what follows them is computed.

The input is the arrays, in batches. Features are placeholders that are not fed; predictions that need one are an error
that names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType
from lightwell.inside.edits.base import At, Edit
from lightwell.inside.edits.edit_numbers import SCOPE
from lightwell.inside.edits.kinds import Replace, replace
from lightwell.inside.paths.show import shape_text
from lightwell.inside.watches.fed_inputs import FedInputs, flat_names
from lightwell.run.engine.fetches import Fetches
from lightwell.run.engine.program import Program
from lightwell.run.loops.step_copy import step_ops

WHERE = "predict(from_=...)"
_BATCH = 128


def replacements(from_: Any) -> list[Replace]:
    """An edit for each value that a prediction starts from, all with the same number of rows.

    Raises:
        WrongType, UsageError: it is something else, or the rows differ.
    """
    if not isinstance(from_, Mapping) or not from_ or not all(isinstance(path, str) for path in from_):
        raise WrongType(f"{WHERE} takes a dict of arrays by path, as {{'layers/conv2d': array}}; got {from_!r}.")
    edits = [replace(path, value) for path, value in from_.items()]
    rows = {edit.path: edit.array().shape[:1] for edit in edits}
    if () in rows.values() or len(set(rows.values())) > 1:
        row_counts = {path: shape[0] if shape else "none" for path, shape in rows.items()}
        raise UsageError(f"{WHERE}: the arrays must have one row for each example; their rows are {row_counts}.")
    return edits


class LayerStart:
    """A prediction without features, from values of layers.

    Args:
        replacements: one edit for each value, with its array.
        features: the placeholders of the missing features.
    """

    def __init__(self, replacements: Sequence[Replace], features: FedInputs) -> None:
        self._replacements = replacements
        self._features = features
        self._batch: dict[str, Any] = {}
        self.edits = tuple(_StartValue(edit.path, self, edit) for edit in replacements)

    def input_fn(self) -> Any:
        """Starts the arrays, in batches; returns the placeholders of the features."""
        arrays = {str(place): edit.array() for place, edit in enumerate(self._replacements)}
        dataset = tf.data.Dataset.from_tensor_slices(arrays).batch(_BATCH)
        batch = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        self._batch = {edit.path: batch[str(place)] for place, edit in enumerate(self._replacements)}
        return self._features.input_fn()

    def batch_of(self, path: str) -> Any:
        """The tensor with the values of a batch."""
        return self._batch[path]

    def batch_size(self, program: Program) -> Any:
        """The tensor with the number of rows in a batch."""
        with program.graph.as_default(), tf.name_scope(SCOPE):
            return tf.shape(next(iter(self._batch.values())))[0]

    def check(self, program: Program, outputs: Any) -> None:
        """Fails where outputs need more than the values of the layers.

        Raises:
            UsageError: it names the features that are missing, or says that no output follows from the values.
        """
        elements = Fetches(program.graph, {"outputs": outputs}).elements
        ops = {op.name for part in step_ops(elements) for op in part}
        named = flat_names(self._features.feeds)
        missing = [f"features/{name}" if name else "features" for name, one in named.items() if one.op.name in ops]
        replacements = ", ".join(repr(edit.path) for edit in self._replacements)
        if missing:
            raise UsageError(
                f"{WHERE}: from {replacements} alone the predictions cannot be computed: they still need "
                f"{', '.join(map(repr, missing))}. Give an input_fn that has them, in the order of the rows, or ask "
                "for predictions that do without (predict_keys=)."
            )
        if not any(tensor.op.name in ops for tensor in self._batch.values()):
            raise UsageError(
                f"{WHERE}: nothing that is predicted follows from {replacements}. Start from another layer."
            )


@dataclass(frozen=True, eq=False, repr=False)
class _StartValue(Edit):
    """The values of one path that a prediction starts from."""

    source: LayerStart
    origin: Replace

    def changed(self, value: Any, at: At) -> Any:
        new = self.source.batch_of(self.origin.path)
        shapes_fit = value.shape[1:].is_compatible_with(new.shape[1:])
        if not isinstance(value, tf.Tensor) or new.shape.rank != value.shape.rank or not shapes_fit:
            raise at.error(f"is {at.value_text()}; the array has rows of shape {shape_text(new.shape.as_list()[1:])}.")
        if new.dtype != value.dtype and tf.string in (new.dtype, value.dtype):
            raise at.error(f"is {at.value_text()}; the array holds {new.dtype.name}.")
        return tf.cast(new, value.dtype)

    def __repr__(self) -> str:
        return f"from_={{{self.path!r}: …}}"
