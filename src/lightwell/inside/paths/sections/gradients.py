"""Gradients: d loss / d a weight, a layer's output or input, a feature. Built on demand.

They are built together, so that the backward pass is shared; what equals the optimizer's own backward pass is
merged with it by TensorFlow's graph optimizer. One that an edit changes is what the optimizer gets: the edited one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.errors import PathError
from lightwell.inside.paths.sections.base import Entry, Section
from lightwell.inside.paths.sections.layers import LAYERS
from lightwell.inside.paths.sections.structures import FEATURES
from lightwell.inside.paths.sections.variables import WEIGHTS
from lightwell.run.engine.program import Program
from lightwell.run.failures.step import tensors_behind

if TYPE_CHECKING:
    from lightwell.inside.paths.catalogue import Catalogue

_SOURCES: tuple[Section, ...] = (WEIGHTS, LAYERS, FEATURES)


class Gradients(Section):
    """`gradients/` and the path of what the gradient is of."""

    name = "gradients"
    also_called = ("grad", "gradient", "grads")
    modes = (ModeKeys.TRAIN, ModeKeys.EVAL)
    absent_elsewhere = "a gradient needs the loss, and prediction has none. Use evaluate(taps=...) or train."
    is_by_replica = True
    is_mirror = True
    not_captured = (
        "is a gradient of the mean loss of a batch, so that its rows depend on how examples fell into batches; a "
        "capture keeps what belongs to an example. Read it with evaluate(taps=...), or with a Watch in training."
    )

    def entries(self, catalogue: Catalogue) -> dict[str, Entry]:
        if catalogue.program.mode not in self.modes or catalogue.program.spec.loss is None:
            return {}
        sources = [
            source
            for section in _SOURCES
            for source in catalogue.section(section).values()
            if not _why_none(source, catalogue)
        ]
        paths = {f"{self.name}/{source.path}": source for source in sources}
        return {path: Entry(path, self, is_input=source.is_input, source=source) for path, source in paths.items()}

    def why_missing(self, path: str, catalogue: Catalogue) -> str:
        """A value that is there may have no gradient."""
        of = path.partition("/")[2]
        if not of or not catalogue.section(self):
            return ""
        sources = catalogue.find(of)
        return _why_none(sources[0], catalogue) if sources else catalogue.why_missing(of)

    def is_by_example(self, entry: Entry) -> bool:
        return entry.source is not None and entry.source.by_example

    def fetches(self, program: Program, entries: Sequence[Entry], where: str) -> dict[str, Any]:
        """Those of values that the loss does not depend on are left out."""
        if not entries:
            return {}
        if program.graph.finalized:
            raise PathError(
                f"{where}: {entries[0].path!r} has to be built, and the graph is final by now. Read it with "
                f"Watch({entries[0].path!r}, ...), which builds it in time."
            )
        with tf.name_scope("gradients"):
            by_path = {entry.path: program.layers.edited.get(entry.path) for entry in entries}
            left = [entry for entry in entries if by_path[entry.path] is None]
            gradients = _gradients(program.spec.loss, left, where) if left else []
            by_path |= {entry.path: gradient for entry, gradient in zip(left, gradients, strict=True)}
            return {path: tf.convert_to_tensor(gradient) for path, gradient in by_path.items() if gradient is not None}

    def over_replicas(self, entry: Entry, values: Sequence[Any], there: Sequence[Any]) -> Any:
        """The gradient of the mean loss: each replica has a share of it."""
        if not self.is_by_example(entry):
            return tf.add_n(list(values)) / len(values)
        return super().over_replicas(entry, [value / len(values) for value in values], there)

    def why_not_fetched(self, entry: Entry) -> str:
        return f"the loss does not depend on {entry.path.partition('/')[2]!r}, so {entry.path!r} does not exist."


def _gradients(loss: Any, entries: Sequence[Entry], where: str) -> list[Any]:
    try:
        # As optimizers ask for them, so that it is the same backward pass to the last op.
        sources = [entry.prototype for entry in entries]
        return list(tf.compat.v1.gradients(loss, sources, gate_gradients=True, stop_gradients=_unpacked(sources)))
    except LookupError as error:
        without = re.search(r"operation\s*'([^']+)' \(op type: (\w+)\)", str(error))
        if without is None:
            raise
        op, kind = without.groups()
        behind = set().union(*map(tensors_behind, loss.graph.get_operation_by_name(op).inputs))
        path = next((entry.path for entry in entries if _tensor_of(entry.prototype).name in behind), entries[0].path)
        raise PathError(
            f"{where}: {path!r} does not exist: between it and the loss stands the op {op!r} ({kind}), for which "
            "TensorFlow has no gradient. Ask for gradients of values that come after it, each by its path, or write "
            "what it does with ops that have one, or with tf.custom_gradient."
        ) from error


def _unpacked(sources: Sequence[Any]) -> list[Any] | None:
    """What is unpacked of an input besides the sources of gradients: sparse and ragged features.

    An iterator is one op, and TensorFlow would go back to it by all its outputs. Nothing flows through those that hold
    no numbers, and the ops that unpack them have no gradient.
    """
    iterators = {one.op for one in sources if isinstance(one, tf.Tensor) and one.op.type == "IteratorGetNext"}
    packed = [output for op in iterators for output in op.outputs if not output.dtype.is_floating]
    ops = [op for output in packed for op in output.consumers() if not any(i.dtype.is_floating for i in op.inputs)]
    return [output for op in ops for output in op.outputs] or None


def _tensor_of(value: Any) -> Any:
    return value.handle if isinstance(value, tf.Variable) and hasattr(value, "handle") else value


def _why_none(source: Entry, catalogue: Catalogue) -> str:
    """Why a value has no gradient; empty where it has one, if the loss depends on it."""
    path, value = source.path, source.tensor
    if source.section not in _SOURCES:
        return f"gradients are of weights, layers and features, and {path!r} is none of these."
    if isinstance(value, tf.Variable):
        return "" if id(value) in catalogue.trained else f"{path!r} is not trained, so it has no gradient."
    if not isinstance(value, tf.Tensor):
        return f"{path!r} is a {type(value).__name__}, and only dense tensors have a gradient here."
    if not value.dtype.is_floating:
        return f"{path!r} holds {value.dtype.name}, and only floating-point numbers have a gradient."
    return ""


GRADIENTS = Gradients()
