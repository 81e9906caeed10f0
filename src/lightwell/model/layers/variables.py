"""Variables of layers, created by `tf.compat.v1.get_variable`, with errors that name the layer."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.foreign import private_tf
from lightwell.model.layers.scopes import unpartitioned


@dataclass(frozen=True)
class CreatedVariable:
    """A variable that a layer created or reused.

    Attributes:
        variable: what `get_variable` returned; a `PartitionedVariable` under a partitioner.
        is_new: whether it was created, and not shared with another layer.
    """

    variable: Any
    is_new: bool

    @property
    def pieces(self) -> list[Any]:
        """The variable itself, or the parts of a partitioned one."""
        return pieces_of(self.variable)


def pieces_of(variable: Any) -> list[Any]:
    """The variable itself, or the parts of a partitioned one."""
    return list(variable) if hasattr(private_tf.parts_of(variable)[0], "as_tensor") else [variable]


def make_variable(layer_name: str, name: str, *, in_one_piece: bool = False, **options: Any) -> CreatedVariable:
    """Gets or creates the variable `name` in the current variable scope.

    Args:
        layer_name: the layer's name, for error messages.
        name: the variable's name below the scope.
        in_one_piece: whether the scope's partitioner is to be ignored.
        **options: as in `tf.compat.v1.get_variable`.

    Raises:
        UsageError: the variable exists and must not, does not exist and must, or has another shape.
    """
    created: list[Any] = []

    def note_creation(next_creator: Any, **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        created.append(variable)
        return variable

    with contextlib.ExitStack() as stack:
        stack.enter_context(tf.compat.v1.variable_creator_scope(note_creation))
        if in_one_piece:
            stack.enter_context(unpartitioned())
        try:
            variable = tf.compat.v1.get_variable(name, **options)
        except ValueError as error:
            raise UsageError(_explain(str(error), layer_name, name, options)) from error
    return CreatedVariable(variable, bool(created))


def _explain(reason: str, layer_name: str, name: str, options: dict[str, Any]) -> str:
    where = f"layer '{layer_name}', variable '{name}' of shape {tuple(options.get('shape') or ())}"
    first_line = reason.partition("\n")[0].partition(" Originally defined at")[0].strip()
    if "already exists" in reason:
        advice = "Give this layer another name=, or pass reuse=True (or tf.compat.v1.AUTO_REUSE) to share the variable."
    elif "does not exist" in reason:
        advice = "Build the layer once without reuse first, or pass reuse=tf.compat.v1.AUTO_REUSE."
    elif "specified shape" in reason:
        advice = "A shared layer needs inputs and sizes of the shape it was first built with; rename it to get its own."
    else:
        advice = "Check the layer's initializer, shape and dtype."
    return f"{where}: {first_line} {advice}"
