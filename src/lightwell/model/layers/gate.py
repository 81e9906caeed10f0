"""The gate: where edits change the values of a model.

A tensor at the gate is a `Passing`; an `Edit` is a function of it. Structures of tensors pass with their path. A
structure that no edit changes is returned as the same object, so that a model without edits has an unchanged graph.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from lightwell.errors import UsageError

if TYPE_CHECKING:
    from lightwell.model.layers.record import LayerCall

_FORMS = (tf.Tensor, tf.SparseTensor, tf.RaggedTensor, tf.IndexedSlices)
_INPUT = "input"


@dataclass(frozen=True, eq=False)
class Passing:
    """One tensor at the gate.

    Attributes:
        path: its name: `features/age`, `layers/dense:1`, `layers/lstm[1]`, `gradients/weights/dense/kernel`, `loss`.
        value: the tensor; sparse and ragged ones, and gradients in slices, come as they are.
        call: the layer call that it is an output or input of.
        is_input: whether it is an input: `layers/dense/input`.
    """

    path: str
    value: Any
    call: LayerCall | None = None
    is_input: bool = False


Edit = Callable[[Passing], Any]
"""Returns the new value for `passing.value`; the same object to leave it unchanged."""

# An edit may have a method `together` that takes a list of `Passing`: values that pass at the same time.

_Visit = Callable[[str, Any], Any]


def tensors_in(values: Any) -> list[Any]:
    """The tensors of a structure, in order; sparse and ragged ones count as one."""
    return [value for value in tf.nest.flatten(values) if isinstance(value, _FORMS)]


def through_edits(edits: Sequence[Edit], path: str, values: Any) -> Any:
    """`values`, a tensor or a structure of tensors, after all edits.

    Args:
        edits: in the order in which they apply.
        path: the path of the whole; the parts of a structure are named by their keys (`features/age`).
    """
    return _by_key(path, values, lambda leaf_path, leaf: _edited(edits, Passing(leaf_path, leaf))) if edits else values


def outputs_through_edits(edits: Sequence[Edit], call: LayerCall) -> Any:
    """The outputs of a layer after all edits; several are numbered (`layers/lstm[1]`)."""
    if not edits:
        return call.outputs
    return _by_number(call.path, call.outputs, lambda path, leaf: _edited(edits, Passing(path, leaf, call)))


def inputs_through_edits(edits: Sequence[Edit], call: LayerCall) -> Any:
    """The inputs of a layer after all edits (`layers/dense/input`, `layers/add/input[1]`)."""
    if not edits:
        return call.inputs
    path = f"{call.path}/{_INPUT}"
    return _by_number(path, call.inputs, lambda path, leaf: _edited(edits, Passing(path, leaf, call, is_input=True)))


def _edited(edits: Sequence[Edit], passing: Passing) -> Any:
    for edit in edits:
        after = _accepted(edit, passing.path, passing.value, edit(passing))
        passing = replace(passing, value=after)
    return passing.value


def together_through_edits(edits: Sequence[Edit], values: Sequence[tuple[str, Any]]) -> list[Any]:
    """(path, value) pairs that pass at the same time: the values after all edits."""
    passing = [Passing(path, value) for path, value in values]
    for edit in edits:
        together = getattr(edit, "together", None)
        after = [edit(one) for one in passing] if together is None else together(passing)
        accepted = [_accepted(edit, one.path, one.value, new) for one, new in zip(passing, after, strict=True)]
        passing = [Passing(one.path, new) for one, new in zip(passing, accepted, strict=True)]
    return [one.value for one in passing]


def _by_number(path: str, values: Any, visit: _Visit) -> Any:
    leaves = tf.nest.flatten(values)
    places = [place for place, leaf in enumerate(leaves) if tf.is_tensor(leaf)]
    after = list(leaves)
    for number, place in enumerate(places):
        after[place] = visit(path if len(places) == 1 else f"{path}[{number}]", leaves[place])
    if all(new is old for new, old in zip(after, leaves, strict=True)):
        return values
    return tf.nest.pack_sequence_as(values, after)


def _by_key(path: str, values: Any, visit: _Visit) -> Any:
    if isinstance(values, _FORMS):
        return visit(path, values)
    keys = _keys(values)
    parts = {key: values[place] for place, key in keys}
    after = {key: _by_key(f"{path}/{key}", part, visit) for key, part in parts.items()}
    if all(after[key] is parts[key] for key in parts):
        return values
    if isinstance(values, Mapping):
        changed = copy.copy(values) if isinstance(values, dict) else dict(values)
        changed.update(after)
        return changed
    return type(values)(*after.values()) if hasattr(values, "_fields") else type(values)(after.values())


def _keys(values: Any) -> list[tuple[Any, Any]]:
    """(key or index in `values`, name in the path) of each part; empty if `values` has no parts."""
    if isinstance(values, Mapping):
        return [(key, key) for key in values]
    if hasattr(values, "_fields"):
        return list(enumerate(values._fields))
    return [(place, place) for place in range(len(values))] if isinstance(values, list | tuple) else []


def _accepted(edit: Edit, path: str, before: Any, after: Any) -> Any:
    """Validates the result of an edit: a tensor of the same type and a compatible shape."""
    if after is before:
        return before
    if after is None:
        raise UsageError(
            f"{_edit_label(edit, path)} returned None; expected the value to go on with. Return what it was given to "
            "leave it."
        )
    if isinstance(before, tf.SparseTensor | tf.RaggedTensor):
        if not isinstance(after, type(before)) or after.dtype != before.dtype:
            raise _unfit(edit, path, before, after)
        return after
    if not isinstance(after, tf.IndexedSlices):
        try:
            after = tf.convert_to_tensor(after, dtype=before.dtype)
        except (TypeError, ValueError) as error:
            raise _unfit(edit, path, before, after) from error
    if after.dtype != before.dtype or not before.shape.is_compatible_with(after.shape):
        raise _unfit(edit, path, before, after)
    if isinstance(after, tf.Tensor) and isinstance(before, tf.Tensor):
        after.set_shape(before.shape)  # later layers may need sizes that the edit's ops lost
        _copy_attributes(before, after)
    return after


def _copy_attributes(before: tf.Tensor, after: tf.Tensor) -> None:
    """Copies attributes of the tensor: Keras stores a mask there, layers their variables."""
    for name, value in vars(before).items():
        vars(after).setdefault(name, value)


def _unfit(edit: Edit, path: str, before: Any, after: Any) -> UsageError:
    return UsageError(
        f"{_edit_label(edit, path)} must return a value like the one it got, {_value_label(before)}; it returned "
        f"{_value_label(after)}. Cast or reshape the result."
    )


def _edit_label(edit: Edit, path: str) -> str:
    """An edit for errors; its attribute `where` names the call that requested it."""
    where = getattr(edit, "where", "")
    return f"{where}: an edit of {path!r}" if where else f"an edit of {path!r}"


def _value_label(value: Any) -> str:
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    kind = type(value).__name__ if not isinstance(value, tf.Tensor) else "Tensor"
    return f"{kind} {value!r}" if dtype is None else f"{kind} {getattr(dtype, 'name', dtype)} {shape}"
