"""`tf.contrib.data`: what its transformations give, as TensorFlow 1.15.5 gave it."""

from __future__ import annotations

import pytest
import tensorflow as tf
from tests.compat.contrib import data_cases, same

from lightwell import tf1

RECORDED = same.recorded("data")["cases"]


@pytest.mark.parametrize("name", sorted(data_cases.CASES))
def test_as_recorded(name: str) -> None:
    same.assert_same(same.outcome(data_cases.CASES[name], tf1.contrib), RECORDED[name], name)


def test_refused() -> None:
    with pytest.raises(ValueError, match="Cannot specify both `window_shift` and `stride`"):
        tf1.contrib.data.sliding_window_batch(2, stride=1, window_shift=1)
    with pytest.raises(AttributeError, match=r"tf\.contrib\.data\.LMDBDataset is gone: .* TFRecord"):
        tf1.contrib.data.LMDBDataset("file")
    with pytest.raises(ValueError, match="expected 2 shapes, one for each part, got 1"):
        tf.data.Dataset.zip((tf.data.Dataset.range(2),) * 2).apply(tf1.contrib.data.assert_element_shape(([],)))
