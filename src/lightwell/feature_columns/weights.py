"""Variables of columns, as the layer around them keeps them: variables of Keras.

Owns the ways in which a layer of columns gets one: `new_weight` lets Keras make it, `adopted` lets Keras keep one that
exists already (a shared embedding, a piece of a partitioned variable), so that the layer and the models around it know
and train it.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from lightwell.feature_columns.state import Wanted
from lightwell.interop.doors import hold_value


def new_weight(wanted: Wanted, *, trainable: bool) -> keras.Variable:
    """A new variable in the current name scope."""
    return keras.Variable(
        wanted.initializer,
        shape=wanted.shape,
        dtype=wanted.dtype.name,
        trainable=trainable,
        name=wanted.name,
    )


def adopted(variable: tf.Variable) -> keras.Variable:
    """Keras' view of a variable that exists."""

    def give_existing(next_creator: Any, **options: Any) -> tf.Variable:
        return variable

    name = variable.name.partition(":")[0].rpartition("/")[2]
    with tf.variable_creator_scope(give_existing):
        weight = keras.Variable(
            lambda shape, dtype: tf.zeros(shape, dtype),
            shape=tuple(variable.shape),
            dtype=variable.dtype.name,
            trainable=variable.trainable,
            name=name,
        )
    hold_value(weight, variable)  # in a model_fn, Keras' variables are made late
    return weight


def partitioned(wanted: Wanted, *, scope: str, partitioner: Any, trainable: bool) -> Any:
    """A variable in pieces, under exactly the variable scope `scope`, whatever scope is open."""
    with tf.compat.v1.variable_scope(tf.compat.v1.VariableScope(reuse=False, name=scope), auxiliary_name_scope=False):
        return tf.compat.v1.get_variable(
            wanted.name,
            wanted.shape,
            wanted.dtype,
            initializer=wanted.initializer,
            trainable=trainable,
            use_resource=True,
            partitioner=partitioner,
        )
