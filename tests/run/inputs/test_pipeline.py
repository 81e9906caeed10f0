"""Pipelines that only cut arrays into batches go without tuning, with the same elements; others are left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell.run.inputs import pipeline
from lightwell.run.inputs.pipeline import lighter_initializer

v1 = tf.compat.v1
ROWS = np.arange(20, dtype=np.float32).reshape(10, 2)


def slices() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices({"x": ROWS, "n": np.arange(10)})


def words() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(
        (np.array(["a", "b", "c", "d", "e"]), ROWS[:5, 0], ROWS[:5].reshape(5, 2, 1))
    )


PLAIN: dict[str, Callable[[], tf.data.Dataset]] = {
    "one array": lambda: tf.data.Dataset.from_tensor_slices(ROWS).batch(3),
    "words and other shapes": lambda: words().shuffle(3).repeat(2).batch(2),
    "many passes, shuffled anew": lambda: slices().shuffle(4, reshuffle_each_iteration=True).repeat(5).batch(3),
    "many passes, shuffled once": lambda: slices().shuffle(4, reshuffle_each_iteration=False).repeat(5).batch(3),
    "batches shuffled": lambda: slices().batch(3).shuffle(2).repeat(2),
    "batches of batches": lambda: slices().take(9).batch(3).batch(2),
    "rows of their own": lambda: slices().take(6).skip(1).shard(2, 1),
    "nothing": lambda: slices().take(0).batch(2),
    "prefetched on the way": lambda: slices().prefetch(2).shuffle(3).batch(2),
    "batches": lambda: slices().batch(4),
    "a remainder dropped": lambda: slices().batch(4, drop_remainder=True),
    "shuffled and repeated": lambda: slices().shuffle(10, seed=3).repeat(3).batch(4),
    "shuffled out of all": lambda: slices().shuffle(50).repeat(4).batch(7),
    "shuffled without end": lambda: slices().shuffle(3).repeat().take(77).batch(4),
    "shuffled twice": lambda: slices().shuffle(5).repeat(3).shuffle(2).prefetch(1).batch(4),
    "repeated, then shuffled": lambda: slices().repeat(2).shuffle(5, seed=3).batch(4),
    "prefetched": lambda: slices().batch(4).prefetch(1),
    "pairs": lambda: tf.data.Dataset.zip((slices(), tf.data.Dataset.range(10))).skip(1).take(7).batch(2),
    "whole": lambda: tf.data.Dataset.from_tensors(ROWS).repeat(2),
}
OTHERS: dict[str, Callable[[], tf.data.Dataset]] = {
    "mapped": lambda: slices().map(lambda row: row["x"] + 1).batch(4),
    "mapped in parallel": lambda: slices().map(lambda row: row["x"], num_parallel_calls=tf.data.AUTOTUNE).batch(4),
    "filtered": lambda: slices().filter(lambda row: row["n"] > 2).batch(4),
    "sparse": lambda: tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense(ROWS)).batch(3),
    "ragged": lambda: tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3], [4]])).batch(2),
    "with options of the user's": lambda: slices().batch(4).with_options(tf.data.Options()),
}


def elements(make: Callable[[], tf.data.Dataset], lighter: bool) -> list[Any]:
    with tf.Graph().as_default():
        v1.set_random_seed(1)
        dataset = make()
        iterator = v1.data.make_initializable_iterator(dataset)
        batch = iterator.get_next()
        initializer = lighter_initializer(iterator, dataset) if lighter else iterator.initializer
        found = []
        with v1.Session() as session:
            session.run(initializer)
            while True:
                try:
                    found.append(session.run(batch))
                except tf.errors.OutOfRangeError:
                    return found


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_pipeline_gives_the_same_elements_without_tuning(name: str) -> None:
    expected, found = elements(PLAIN[name], lighter=False), elements(PLAIN[name], lighter=True)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        tf.nest.map_structure(np.testing.assert_array_equal, one, other)
    with tf.Graph().as_default():
        dataset = PLAIN[name]()
        iterator = v1.data.make_initializable_iterator(dataset)
        source = lighter_initializer(iterator, dataset).inputs[0].op
    assert source.type == "OptionsDataset"
    assert source.inputs[0].op.type == "PrefetchDataset"
    assert source.get_attr("serialized_options")


@pytest.fixture
def gathering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small batches count as large ones."""
    monkeypatch.setattr(pipeline, "_MANY_COLUMNS", 1)
    monkeypatch.setattr(pipeline, "_MANY_PARTS", 1)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.usefixtures("gathering")
def test_batches_that_are_gathered_are_the_same(name: str) -> None:
    test_a_plain_pipeline_gives_the_same_elements_without_tuning(name)


@pytest.mark.parametrize(("columns", "rows", "expected"), [(4, 256, True), (3, 1000, False), (10, 32, False)])
def test_batches_of_many_parts_are_gathered(columns: int, rows: int, expected: bool) -> None:
    with tf.Graph().as_default() as graph:
        arrays = {str(number): np.zeros([10]) for number in range(columns)}
        dataset = tf.data.Dataset.from_tensor_slices(arrays).shuffle(3).repeat().batch(rows)
        lighter_initializer(v1.data.make_initializable_iterator(dataset), dataset)
        assert ("RangeDataset" in {op.type for op in graph.get_operations()}) == expected


@pytest.mark.usefixtures("gathering")
def test_arrays_of_different_lengths_are_refused() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        one, other = (v1.placeholder(tf.float32, [None]) for _ in range(2))
        dataset = tf.data.Dataset.from_tensor_slices((one, other)).batch(2)
        initializer = lighter_initializer(v1.data.make_initializable_iterator(dataset), dataset)
        session.run(initializer, {one: [1, 2, 3], other: [1, 2, 3]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must have"):
            session.run(initializer, {one: [1, 2, 3], other: [1, 2, 3, 4]})


@pytest.mark.parametrize("name", OTHERS)
def test_any_other_pipeline_keeps_its_initialiser(name: str) -> None:
    with tf.Graph().as_default() as graph:
        dataset = OTHERS[name]()
        iterator = v1.data.make_initializable_iterator(dataset)
        before = len(graph.get_operations())
        assert lighter_initializer(iterator, dataset) is iterator.initializer
        assert len(graph.get_operations()) == before


def test_nothing_is_said_about_it(recwarn: pytest.WarningsRecorder, log: Any) -> None:
    elements(PLAIN["batches"], lighter=True)
    assert log.lines == []
    assert len(recwarn) == 0
