"""The old switches can be called and change nothing."""

from __future__ import annotations

import tensorflow as tf

from lightwell import layers


def test_the_switches_leave_names_alone() -> None:
    layers.experimental.set_keras_style()
    with layers.experimental.keras_style_scope():
        assert layers.dense(tf.ones([2, 3]), 2).name == "dense/BiasAdd:0"
