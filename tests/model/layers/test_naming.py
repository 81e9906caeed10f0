"""Names of layer objects."""

from __future__ import annotations

import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.model.layers.naming import snake_case


@pytest.mark.parametrize(
    ("class_name", "expected"),
    [
        ("Dense", "dense"), ("Conv2D", "conv2d"), ("MaxPooling2D", "max_pooling2d"), ("HTTPLayer", "http_layer"),
        ("Conv2DTranspose", "conv2d_transpose"), ("MyRNNCell", "my_rnn_cell"), ("_Hidden", "private__hidden"),
    ],
)  # fmt: skip
def test_class_names_in_snake_case(class_name: str, expected: str) -> None:
    assert snake_case(class_name) == expected


def test_names_are_counted_per_graph() -> None:
    assert [layers.Dense(2).name, layers.Dense(2).name, layers.Flatten().name] == ["dense_1", "dense_2", "flatten_1"]
    with tf.Graph().as_default():
        assert layers.Dense(2).name == "dense_1"
    assert layers.Dense(2, name="own").name == "own"
