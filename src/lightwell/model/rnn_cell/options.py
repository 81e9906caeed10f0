"""Checks of the constructor arguments of cells: widths, activations, cells to wrap, probabilities."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import LightwellError, UsageError, WrongType
from lightwell.model.layers import identifiers


def units_of(where: str, num_units: Any, *, argument: str = "num_units") -> int:
    """A number of units as an int."""
    try:
        units = operator.index(num_units)
    except TypeError:
        raise WrongType(
            f"{where}: expected {argument} to be an int, got {num_units!r}. Pass for example 128."
        ) from None
    if units < 1:
        raise UsageError(f"{where}: expected {argument} to be at least 1, got {units}. Pass for example 128.")
    return units


def activation_of(where: str, activation: Any) -> Callable[[Any], Any]:
    """The function for an activation: a function, a name, or None for tanh."""
    try:
        function = identifiers.activation("tanh" if activation is None else activation)
    except LightwellError as error:
        raise type(error)(f"{where}: {error}") from None
    return tf.identity if function is None else function


def cell_of(where: str, cell: Any) -> Any:
    """The cell itself, when it has all that the recurrent functions of TensorFlow ask of one."""
    missing = [name for name in ("output_size", "state_size") if not hasattr(cell, name)]
    if not (hasattr(cell, "zero_state") or hasattr(cell, "get_initial_state")):
        missing.append("zero_state")
    if not callable(cell):
        missing.append("__call__")
    if missing:
        raise WrongType(
            f"{where}: expected an RNNCell, got {cell!r}, which has no {', '.join(missing)}. "
            "Pass a cell, for example LSTMCell(128)."
        )
    return cell


def keep_prob_of(where: str, argument: str, probability: Any) -> Any:
    """A probability: a float between 0 and 1, or a scalar tensor whose value is known only when it runs."""
    if tf.is_tensor(probability):
        probability = _known_value(probability)
    if tf.is_tensor(probability):
        return probability
    if np.ndim(probability) or not np.issubdtype(np.asarray(probability).dtype, np.number):
        raise WrongType(
            f"{where}: expected {argument} to be a float between 0 and 1 or a scalar tensor, got {probability!r}. "
            "Pass for example 0.9."
        )
    value = float(probability)
    if not 0 < value <= 1:
        raise UsageError(
            f"{where}: {argument} must be between 0 and 1, and more than 0; got {probability!r}. "
            "It is the share to keep: pass 1.0 for no dropout, 0.9 to drop a tenth."
        )
    return value


def _known_value(tensor: Any) -> Any:
    value = tf.get_static_value(tensor)
    return tensor if value is None else value
