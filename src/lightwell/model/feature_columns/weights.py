"""Variables of columns, as the layer around them keeps them: variables of Keras.

Owns the ways in which a layer of columns gets one: `new_weight` lets Keras make it, `view_of` lets Keras keep one that
exists already (a shared embedding, a piece of a partitioned variable), so that the layer and the models around it know
and train it.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from lightwell.foreign.private_keras import set_tf_variable
from lightwell.model.feature_columns.state import VariableSpec

_VIEW = "_lightwell_keras_variable"


def new_weight(spec: VariableSpec, *, trainable: bool) -> keras.Variable:
    """A new variable in the current name scope."""
    return keras.Variable(
        spec.initializer,
        shape=spec.shape,
        dtype=spec.dtype.name,
        trainable=trainable,
        name=spec.name,
    )


def view_of(variable: tf.Variable) -> keras.Variable:
    """Keras' view of a variable that exists; the same one each time, so that a model counts the variable once."""
    known = getattr(variable, _VIEW, None)
    if known is not None:
        return known

    def give_existing(next_creator: Any, **options: Any) -> tf.Variable:
        return variable

    with tf.variable_creator_scope(give_existing):
        view = keras.Variable(
            lambda shape, dtype: tf.zeros(shape, dtype),
            shape=tuple(variable.shape),
            dtype=variable.dtype.name,
            trainable=variable.trainable,
            name=variable.name.partition(":")[0].rpartition("/")[2],
        )
    stand_for(view, variable)  # in a model_fn, Keras' variables are made late
    return view


def stand_for(view: keras.Variable, variable: tf.Variable) -> None:
    """Makes a view one of another variable: that of the graph which is built now."""
    set_tf_variable(view, variable)
    setattr(variable, _VIEW, view)


def partitioned(spec: VariableSpec, *, scope: str, partitioner: Any, trainable: bool) -> Any:
    """A variable in pieces, under exactly the variable scope `scope`, whatever scope is open."""
    with tf.compat.v1.variable_scope(tf.compat.v1.VariableScope(reuse=False, name=scope), auxiliary_name_scope=False):
        return tf.compat.v1.get_variable(
            spec.name,
            spec.shape,
            spec.dtype,
            initializer=spec.initializer,
            trainable=trainable,
            use_resource=True,
            partitioner=partitioner,
        )
