"""Every call is written into the open book, under the name its variables have."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell import layers
from lightwell.layers.record import LayerBook, recording

v1 = tf.compat.v1


def lines(book: LayerBook) -> list[tuple[str, int, str]]:
    return [(call.name, call.call, call.kind) for call in book]


def test_a_small_network() -> None:
    with recording(LayerBook()) as book:
        x = tf.ones([2, 6, 6, 1])
        with v1.variable_scope("block"):
            x = layers.conv2d(x, 3, 3)
            x = layers.max_pooling2d(x, 2, 2)
        x = layers.batch_normalization(x)
        x = layers.dropout(layers.flatten(x), name="drop")
        logits = layers.dense(layers.dense(x, 4), 2)
    layers.dense(x, 2)
    assert lines(book) == [
        ("block/conv2d", 0, "Conv2D"),
        ("block/max_pooling2d", 0, "MaxPooling2D"),
        ("batch_normalization", 0, "BatchNormalization"),
        ("flatten", 0, "Flatten"),
        ("drop", 0, "Dropout"),
        ("dense", 0, "Dense"),
        ("dense_1", 0, "Dense"),
    ]
    last = book.calls[-1]
    assert last.outputs is logits
    assert last.inputs is book.calls[-2].outputs
    assert [variable.name for variable in last.variables] == ["dense_1/kernel:0", "dense_1/bias:0"]
    assert last.layer is logits.layer


def test_shared_layers_are_numbered_by_call() -> None:
    with recording(LayerBook()) as book:
        layer = layers.Dense(3)
        layer(layer(tf.ones([2, 3])))
        layers.dense(tf.ones([2, 3]), 2, name="shared")
        layers.dense(tf.ones([2, 3]), 2, name="shared", reuse=True)
    assert lines(book) == [("dense", 0, "Dense"), ("dense", 1, "Dense"), ("shared", 0, "Dense"), ("shared", 1, "Dense")]


def test_own_layers_and_the_layers_inside_them() -> None:
    class Block(layers.Layer):
        def call(self, inputs: Any) -> Any:
            return layers.dense(inputs, 2) * self.add_weight("scale", [])

    with recording(LayerBook()) as book:
        Block()(tf.ones([2, 3]))
    assert lines(book) == [("block/dense", 0, "Dense"), ("block", 0, "Block")]
    assert [variable.name for variable in book.calls[1].variables] == ["block/scale:0"]


def test_a_layer_in_the_root_scope_goes_by_its_own_name() -> None:
    with recording(LayerBook()) as book:
        layers.Dense(2, name="rootless", _scope=v1.get_variable_scope())(tf.ones([2, 3]))
    assert lines(book) == [("rootless", 0, "Dense")]
    assert len(book) == 1


def test_a_call_in_the_body_of_a_loop_is_not_written_down() -> None:
    with recording(LayerBook()) as book:
        outside = layers.dense(tf.ones([1, 2]), 2, name="outside")
        tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, layers.dense(x, 2, name="inside")), (0, outside))
    assert [call.name for call in book] == ["outside"]
