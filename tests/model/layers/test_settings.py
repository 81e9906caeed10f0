"""Normal forms of sizes, paddings and layouts."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from lightwell.layers import settings

v1 = tf.compat.v1


def test_numbers_come_in_many_forms() -> None:
    forms = [2, [2, 2], (2, 2), np.array([2, 2]), tf.TensorShape([2, 2]), np.int64(2), 2.0]
    assert {settings.whole_numbers(form, 2, "strides", "Conv2D") for form in forms} == {(2, 2)}


@pytest.mark.parametrize("window", [1, 2, 3])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("padding", ["valid", "same"])
def test_output_lengths_are_tensorflows(window: int, stride: int, padding: str) -> None:
    pooled = tf.nn.max_pool1d(tf.ones([1, 7, 1]), window, stride, padding.upper())
    assert settings.output_length(7, window, padding, stride) == pooled.shape[1]
    assert settings.output_length(None, window, padding, stride) is None


def test_layouts_in_tensorflows_letters() -> None:
    assert [settings.tensorflow_layout("channels_last", rank) for rank in (1, 2, 3)] == ["NWC", "NHWC", "NDHWC"]
    assert [settings.tensorflow_layout("channels_first", rank) for rank in (1, 2, 3)] == ["NCW", "NCHW", "NCDHW"]
    assert settings.layout("Channels_First", "Conv2D") == "channels_first"


def test_truth_that_is_known_early_and_late() -> None:
    early = [True, False, 1, 0, None, np.bool_(True), tf.constant(True)]
    assert [settings.static_truth(value, "training", "x") for value in early] == [
        True, False, True, False, False, True, True,
    ]  # fmt: skip
    assert settings.static_truth(v1.placeholder(tf.bool, []), "training", "x") is None
    assert settings.static_truth(v1.get_variable("mode", initializer=True), "training", "x") is None
