"""Batches that come with whether a step after them has one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell.run.inputs.lookahead import LookaheadIterator, may_end, with_lookahead


def pairs() -> Any:
    return tf.data.Dataset.from_tensor_slices(({"x": np.arange(7.0)}, np.arange(7)))


def read(make: Any, count: int) -> list[Any]:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        source = tf.compat.v1.data.make_initializable_iterator(with_lookahead(make(), count))
        iterator = LookaheadIterator(source)
        element = iterator.get_next()
        session.run(source.initializer)
        found = []
        while True:
            try:
                found.append(session.run((element, iterator.is_more)))
            except tf.errors.OutOfRangeError:
                return found


@pytest.mark.parametrize(("count", "more"), [(1, [True, True, True, False]), (2, [True, True, False, False])])
def test_the_last_step_is_told_from_the_others(count: int, more: list[bool]) -> None:
    found = read(lambda: pairs().batch(2), count)
    assert [bool(one) for _, one in found] == more
    assert [features["x"].tolist() for (features, _), _ in found] == [[0, 1], [2, 3], [4, 5], [6]]
    assert [labels.tolist() for (_, labels), _ in found] == [[0, 1], [2, 3], [4, 5], [6]]


def test_elements_of_other_forms() -> None:
    def sparse() -> Any:
        return tf.data.Dataset.range(1, 3).map(lambda size: {"s": tf.sparse.from_dense(tf.range(size))})

    assert [element["s"].values.tolist() for element, _ in read(sparse, 1)] == [[], [1]]
    assert [int(element) for element, _ in read(lambda: tf.data.Dataset.range(3), 1)] == [0, 1, 2]
    assert read(lambda: pairs().take(0), 1) == []


def test_what_repeats_for_ever_needs_no_look_ahead() -> None:
    with tf.Graph().as_default():
        endless = pairs().repeat().shuffle(3).batch(3).prefetch(2)
        made = [endless, pairs().repeat().map(lambda x, y: x), pairs(), pairs().repeat(3), endless.take(3)]
        assert [may_end(one) for one in made] == [False, False, True, True, True]
