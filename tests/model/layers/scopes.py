"""Uses of layers in variable scopes, name scopes, with reuse and with partitioners; see `cases.py` for the form."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tests.model.layers.cases import IMAGE, ROW, Given, squares, total

v1 = tf.compat.v1


def numbered_names(layers: Any, given: Given) -> Any:
    x = given.x(*ROW)
    with v1.variable_scope("outer"):
        inner = [layers.dense(x, 2), layers.dense(x, 2), layers.dropout(x), layers.flatten(x)]
    return [layers.dense(x, 2), layers.dense(x, 2), layers.dense(x, 2, name="named"), *inner]


def scope_entered_again(layers: Any, given: Given) -> Any:
    x = given.x(*ROW)
    outputs = []
    for _ in range(2):
        with v1.variable_scope("outer", reuse=v1.AUTO_REUSE):
            outputs += [layers.dense(x, 2, kernel_regularizer=squares), layers.dense(x, 3, name="a")]
    with v1.variable_scope("outer", reuse=True):
        outputs += [layers.dense(x, 2), layers.dense(x, 3, name="a"), layers.flatten(x), layers.flatten(x)]
    return outputs


def reused_by_name(layers: Any, given: Given) -> Any:
    x = given.x(*ROW)
    first = layers.dense(x, 3, name="shared", kernel_regularizer=squares, activity_regularizer=total)
    again = layers.dense(first, 3, name="shared", kernel_regularizer=squares, reuse=True, activity_regularizer=total)
    image = given.x(*IMAGE)
    return [
        first,
        again,
        layers.dense(x, 3, name="shared", reuse=v1.AUTO_REUSE),
        layers.conv2d(image, 2, 2, name="conv"),
        layers.conv2d(image, 2, 2, name="conv", reuse=True),
        layers.batch_normalization(x, name="norm", training=True),
        layers.batch_normalization(x, name="norm", reuse=True),
    ]


def name_scopes(layers: Any, given: Given) -> Any:
    x = given.x(*ROW)
    layer = layers.Dense(3, kernel_regularizer=squares)
    with tf.name_scope("here"):
        outputs = [layers.dense(x, 2, name="named"), layer(x), layers.dense(x, 2, kernel_regularizer=total)]
    with tf.name_scope("there"):
        outputs += [layer(x), layers.dense(x, 2, name="named", reuse=True)]
    with v1.variable_scope("bare", auxiliary_name_scope=False):
        outputs.append(layers.dense(x, 2))
    with tf.name_scope("here"), v1.variable_scope("both"):
        outputs += [layer(x), layers.dense(x, 2, name="a/b")]
    return outputs


def objects_with_scopes(layers: Any, given: Given) -> Any:
    x = given.x(*ROW)
    with v1.variable_scope("held") as held:
        pass
    makers = [
        layers.Dense(2, name="foo", _scope="bar"),
        layers.Dense(2, name="foo", _scope="bar", _reuse=True),
        layers.Dense(2, _scope="zed"),
        layers.Dense(2, _scope=held),
        layers.Dense(2, name="twin"),
        layers.Dense(2, name="twin"),
    ]
    with v1.variable_scope("elsewhere"):
        makers.append(layers.Dense(2))
    outputs = [layer(x) for layer in makers]
    late = layers.Dense(2)
    late.build([None, 3])
    outputs += [late(x), layers.Dense(2)(x, scope="asked")]
    given.answers |= {"scopes": [layer.scope_name for layer in makers], "names": [layer.name for layer in makers]}
    return outputs


def scope_settings(layers: Any, given: Given) -> Any:
    x = given.x(*ROW)
    seen: list[str] = []

    def own_getter(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        seen.append(f"{name} {kwargs['shape']} {kwargs['trainable']} {kwargs['regularizer']}")
        return getter(name, *args, **kwargs) * 2.0

    with v1.variable_scope("r", regularizer=squares):
        outputs = [layers.dense(x, 2), layers.dense(x, 2, kernel_regularizer=total)]
    with v1.variable_scope("g", custom_getter=own_getter):
        outputs.append(layers.dense(x, 2))
    with v1.variable_scope("d", dtype=tf.float64):
        outputs.append(layers.dense(x, 2))
    with v1.variable_scope("v", use_resource=False):
        outputs += [layers.dense(x, 2), layers.batch_normalization(x, training=True)]
    given.answers["seen"] = [line.replace("[", "(").replace("]", ")").replace("2,)", "2)") for line in seen]
    return outputs


def partitioned(layers: Any, given: Given) -> Any:
    x, image = given.x(*ROW), given.x(*IMAGE)
    with v1.variable_scope("p", partitioner=v1.fixed_size_partitioner(2)):
        return [
            layers.dense(x, 2, kernel_regularizer=squares),
            layers.dense(given.x(None, 2, 3), 2),
            layers.conv2d(image, 2, 2),
            layers.separable_conv2d(image, 2, 2),
            layers.conv2d_transpose(image, 2, 2),
            layers.batch_normalization(image, training=True),
            layers.batch_normalization(x, training=True),
        ]


def scope_initializer(layers: Any, given: Given) -> Any:
    x = given.x(*ROW)
    with v1.variable_scope("ones", initializer=v1.ones_initializer()):
        outputs = [layers.dense(x, 2), layers.dense(x, 2, kernel_initializer=v1.zeros_initializer())]
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        values = session.run(v1.global_variables())
    given.answers["start"] = [float(np.sum(value)) for value in values]
    return outputs


def own_layer(layers: Any, given: Given) -> Any:
    class Mine(layers.Layer):  # type: ignore[misc, name-defined]
        def build(self, input_shape: Any) -> None:
            self.w = self.add_weight("w", [int(input_shape[-1]), 2], regularizer=squares)
            self.b = self.add_variable("b", [2], initializer=v1.zeros_initializer(), trainable=False)
            self.k = self.add_weight(name="k", shape=(), initializer="ones")
            super().build(input_shape)

        def call(self, inputs: Any, twice: bool = False) -> Any:
            outputs = tf.matmul(inputs, self.w) + self.b * self.k
            self.add_update(v1.assign_add(self.b, tf.ones([2])))
            self.add_loss(tf.reduce_sum(outputs))
            outputs = layers.dense(outputs, 2) * v1.get_variable("extra", [], initializer=v1.ones_initializer())
            return outputs * 2.0 if twice else outputs

    class Pair(layers.Layer):  # type: ignore[misc, name-defined]
        def call(self, inputs: Any) -> Any:
            return inputs[0] + inputs[1], inputs[0] * 2.0

    x = given.x(*ROW)
    mine = Mine()
    outputs = [mine(x), mine(x, twice=True), *Pair(name="pair")([x, x])]
    given.answers |= {
        "weights": [variable.name for variable in mine.weights],
        "built": mine.built,
        "name": mine.name,
        "updates": [update.name for update in mine.updates],
        "conditional": len(mine.get_losses_for(None)),
    }
    return outputs


def loops(layers: Any, given: Given) -> Any:
    x = given.x(*ROW)
    layer = layers.Dense(3, activation=tf.nn.tanh)
    before = layer(x)
    _, after = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, layer(h)), (0, before))
    chosen = tf.cond(
        tf.reduce_sum(x) > 0, lambda: layers.dense(x, 2, name="left"), lambda: layers.dense(x, 2, name="right")
    )
    return [before, after, chosen]


SCOPES = {
    case.__name__: case
    for case in (
        loops, name_scopes, numbered_names, objects_with_scopes, own_layer, partitioned, reused_by_name,
        scope_entered_again, scope_initializer, scope_settings,
    )
}  # fmt: skip
