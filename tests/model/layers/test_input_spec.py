"""What a layer may expect of its inputs."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError, WrongType

v1 = tf.compat.v1


def layer_with(spec: Any) -> layers.Layer:
    layer = layers.Layer(name="picky")
    layer.input_spec = spec
    return layer


@pytest.mark.parametrize(
    ("options", "good", "bad", "expected"),
    [
        ({"ndim": 2}, [2, 3], [2, 3, 4], "needs 2 dimensions; got shape (2, 3, 4), dtype float32"),
        ({"min_ndim": 2}, [2, 3, 4], [2], "needs at least 2 dimensions; got shape (2,)"),
        ({"max_ndim": 2}, [2], [2, 3, 4], "needs at most 2 dimensions; got shape (2, 3, 4)"),
        ({"axes": {-1: 3}}, [2, 3], [2, 4], "needs size 3 on axis -1; got shape (2, 4)"),
        ({"shape": (None, 3)}, [5, 3], [5, 4], "needs 2 dimensions, shape (None, 3); got shape (5, 4)"),
    ],
)
def test_shapes(options: dict[str, Any], good: list[int], bad: list[int], expected: str) -> None:
    layer = layer_with(layers.InputSpec(**options))
    layer(tf.ones(good))
    layer(v1.placeholder(tf.float32))
    with pytest.raises(UsageError) as caught:
        layer(tf.ones(bad))
    assert f"layer 'picky': input 0 {expected}" in str(caught.value)
    assert str(caught.value).endswith("give it the static shape it has with tf.ensure_shape.")


def test_dtypes() -> None:
    layer = layer_with(layers.InputSpec(dtype="int32"))
    layer(tf.ones([2], tf.int32))
    with pytest.raises(WrongType, match=r"input 0 needs dtype int32; got shape \(2,\), dtype float32"):
        layer(tf.ones([2]))


def test_an_axis_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="needs size 3 on axis 2"):
        layer_with(layers.InputSpec(axes={2: 3}))(tf.ones([2, 3]))


def test_a_trailing_one_may_be_allowed() -> None:
    layer_with(layers.InputSpec(shape=(None, 3), allow_last_axis_squeeze=True))(tf.ones([2, 3, 1]))


def test_several_inputs() -> None:
    layer = layer_with([layers.InputSpec(ndim=1), None])
    layer([tf.ones([2]), tf.ones([2, 3])])
    with pytest.raises(UsageError, match=r"expected 2 input tensor\(s\), got 1"):
        layer(tf.ones([2]))


def test_a_spec_shows_what_was_set() -> None:
    assert repr(layers.InputSpec(min_ndim=2, axes={-1: 3})) == "InputSpec(min_ndim=2, axes={-1: 3})"
    assert layers.InputSpec().describe() == "any tensor"
