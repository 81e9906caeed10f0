"""Columns of a class that is not TensorFlow's, as packages bring them: what they read is their own affair."""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tensorflow.python.feature_column import feature_column, feature_column_v2
from tests.estimator.canned.test_old_columns import combined, dnn, linear

import lightwell as lw
from lightwell.compat.v1 import estimator as v1


class TextLength(  # type: ignore[misc]
    feature_column._DenseColumn,
    feature_column_v2.DenseColumn,
    collections.namedtuple("TextLength", ("key",)),
):
    """Reads words, and gives numbers: its type is that of the numbers."""

    dtype = tf.float32
    _is_v2_column = True
    variable_shape = _variable_shape = tf.TensorShape([1])

    @property
    def name(self) -> str:
        return f"{self.key}_length"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: tf.io.FixedLenFeature([1], tf.string)}

    _parse_example_spec = parse_example_spec

    @property
    def parents(self) -> list[Any]:
        return [self.key]

    def get_config(self) -> dict[str, Any]:
        return dict(self._asdict())

    def transform_feature(self, cache: Any, state: Any) -> Any:
        return tf.cast(tf.strings.length(cache.get(self.key, state)), tf.float32)

    def _transform_feature(self, inputs: Any) -> Any:
        return tf.cast(tf.strings.length(inputs.get(self.key)), tf.float32)

    def get_dense_tensor(self, cache: Any, state: Any) -> Any:
        return cache.get(self, state)

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        return inputs.get(self)


def data() -> Any:
    return tf.data.Dataset.from_tensors(({"word": [["a"], ["abc"]]}, [[1.0], [3.0]])).repeat()


@pytest.mark.parametrize("face", [v1, lw.estimator], ids=["v1", "v2"])
@pytest.mark.parametrize("make", [linear, dnn, combined])
def test_a_column_that_turns_words_into_numbers_trains(make: Any, face: Any, tmp_path: Path) -> None:
    columns = [TextLength("word")]
    est = make(face, columns, columns, config=lw.RunConfig(str(tmp_path), tf_random_seed=1))
    est.train(data, steps=2)
    assert est.get_variable_value("global_step") == 2
