"""The summaries of canned models: what TensorBoard shows of a layer and of linear weights.

On the v1 face their names begin with the current scope, as in `tf.estimator`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from lightwell.base.public_names import Face
from lightwell.model.layers.variables import pieces_of

_v1 = tf.compat.v1


def show_layer(name: str, values: Any) -> None:
    """Writes the share of zeros among a layer's values, and their histogram.

    Args:
        name: `dnn/hiddenlayer_0`; see `shown_scope`.
        values: what the layer gave.
    """
    with _v1.name_scope(None):
        _v1.summary.scalar(f"{name}/fraction_of_zero_values", tf.math.zero_fraction(values))
        _v1.summary.histogram(f"{name}/activation", values)


def show_linear(bias: Iterable[Any], weights: Iterable[Any], face: Face) -> None:
    """Writes the bias, and the share of zeros among the weights, of a linear model.

    Args:
        bias: the variable, in its pieces.
        weights: all others.
        face: whose names count.
    """
    flat = tf.concat([tf.reshape(piece, [-1]) for one in bias for piece in pieces_of(one)], axis=0)
    prefix = _name_scope() if face == "v1" else ""
    with _v1.name_scope(None):
        if flat.shape[0] == 1:
            _v1.summary.scalar(f"{prefix}bias", flat[0])
        else:
            _v1.summary.histogram(f"{prefix}bias", flat)
        _v1.summary.scalar(f"{prefix}fraction_of_zero_weights", _share_of_zeros(weights))


def shown_scope(face: Face) -> str:
    """What summaries of layers begin with here: the variable scope, and on the v1 face the name scope before it."""
    scope = _v1.get_variable_scope().name
    return f"{_name_scope() if face == 'v1' else ''}{scope}{'/' if scope else ''}"


def _name_scope() -> str:
    scope = _v1.get_default_graph().get_name_scope()
    return f"{scope}/" if scope else ""


def _share_of_zeros(weights: Iterable[Any]) -> Any:
    flat = [tf.reshape(piece, [-1]) for one in weights for piece in pieces_of(one)]
    return tf.math.zero_fraction(tf.concat(flat, axis=0)) if flat else tf.constant(0.0)
