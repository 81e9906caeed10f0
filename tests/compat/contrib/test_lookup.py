"""`tf.contrib.lookup`: ids and words as TensorFlow 1.15.5 gave them, and in a model."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf
from tests.compat.contrib import lookup_cases, same

import lightwell as lw
from lightwell import tf1

v1 = tf.compat.v1
RECORDED = same.recorded("lookup")["cases"]


@pytest.mark.parametrize("name", sorted(lookup_cases.CASES))
def test_as_recorded(name: str) -> None:
    same.assert_same(same.outcome(lookup_cases.CASES[name], tf1.contrib), RECORDED[name], name)


def test_an_estimator_fills_the_tables(tmp_path: Any) -> None:
    words = tmp_path / "words.txt"
    words.write_text("red\ngreen\nblue\n")

    def input_fn() -> Any:
        table = tf1.contrib.lookup.index_table_from_file(str(words), num_oov_buckets=1)
        dataset = tf.data.Dataset.from_tensor_slices(["blue", "black", "red"])
        return dataset.map(lambda word: {"x": tf.cast(table.lookup(word), tf.float32)[None]}).batch(3)

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        back = tf1.contrib.lookup.index_to_string_table_from_file(str(words), default_value="?")
        color = back.lookup(tf.cast(features["x"], tf.int64))
        loss = tf.reduce_sum(v1.get_variable("w", [], initializer=v1.zeros_initializer()) * features["x"])
        step = v1.train.get_global_step()
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return lw.EstimatorSpec(mode, {"color": color}, loss, train_op)

    estimator = lw.Estimator(model_fn, str(tmp_path / "model"))
    estimator.train(input_fn, steps=1)
    assert [row["color"].tolist() for row in estimator.predict(input_fn)] == [[b"blue"], [b"?"], [b"red"]]


def test_refused() -> None:
    lookup = tf1.contrib.lookup
    with pytest.raises(ValueError, match="vocabulary_file must be specified"):
        lookup.index_table_from_file("")
    with pytest.raises(ValueError, match="num_oov_buckets must be greater or equal than 0, got -1"):
        lookup.index_table_from_tensor(["a"], num_oov_buckets=-1)
    with pytest.raises(ValueError, match="vocab_size must be greater than 0, got 0"):
        lookup.index_to_string_table_from_file("words", vocab_size=0)
    with pytest.raises(TypeError, match="Only integer and string keys are supported, got float32"):
        lookup.index_table_from_tensor(["a"], dtype=tf.float32)
    with pytest.raises(ValueError, match="mapping must be specified"):
        lookup.index_table_from_tensor()
    with pytest.raises(ValueError, match="key must have size 2"):
        lookup.StrongHashSpec([1])
    with tf.Graph().as_default():
        table = lookup.index_table_from_tensor(["a"], num_oov_buckets=1)
        with pytest.raises(TypeError, match="Signature mismatch"):
            table.lookup(tf.constant([1]))
        with pytest.raises(TypeError, match="hasher_spec must be of type HasherSpec"):
            lookup.index_table_from_tensor(["a"], num_oov_buckets=1, hasher_spec="fast")
