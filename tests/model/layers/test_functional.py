"""Functions made from classes: arguments, documentation, and the errors of a wrong call."""

from __future__ import annotations

import inspect

import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import WrongType


def test_arguments_may_come_by_position() -> None:
    output = layers.conv2d_transpose(tf.ones([1, 3, 3, 2]), 4, 3, 2, "same", "channels_last", tf.nn.relu, False)
    assert output.name == "conv2d_transpose/Relu:0"
    assert output.shape == [1, 6, 6, 4]
    assert output.layer.use_bias is False


def test_a_function_documents_its_arguments() -> None:
    text = inspect.getdoc(layers.conv3d) or ""
    assert text.startswith("Calls a new `Conv3D` on `inputs`.")
    for name in inspect.signature(layers.conv3d).parameters:
        assert name == "inputs" or name in text
    assert "reuse" not in (layers.max_pooling2d.__doc__ or "")


def test_a_missing_or_misspelt_argument() -> None:
    with pytest.raises(
        WrongType, match=r"dense: missing a required argument: 'units'\. Its arguments are inputs, units"
    ):
        layers.dense(tf.ones([2, 3]))
    with pytest.raises(
        WrongType, match=r"conv2d: got an unexpected keyword argument 'filter'.*arguments are inputs, filters"
    ):
        layers.conv2d(tf.ones([1, 3, 3, 2]), 3, 2, filter=3)
    with pytest.raises(WrongType, match=r"Conv2DTranspose: missing a required argument: 'kernel_size'"):
        layers.Conv2DTranspose(3)
    with pytest.raises(WrongType, match=r"Conv2DTranspose: unknown argument\(s\) kernel"):
        layers.Conv2DTranspose(3, 2, kernel=1)
