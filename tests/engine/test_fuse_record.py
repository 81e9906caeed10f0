"""Values of every step of a call: what can be recorded, and that each step's row is its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw
from lightwell.engine.build import Recipe, build
from lightwell.engine.fuse import fuse
from lightwell.engine.fuse_record import can_be_recorded
from lightwell.engine.session import SessionPlan, finish_graph, open_session

v1 = tf.compat.v1


def data() -> Any:
    return tf.data.Dataset.range(1, 8).map(lambda x: {"x": tf.cast(x, tf.float32)})


def counting(features: Any, mode: str) -> lw.EstimatorSpec:
    x = features["x"]
    tf.stack([x, 2 * x], name="pair")
    tf.cast(x, tf.int32, name="whole")
    tf.greater(x, 2.0, name="many")
    return lw.EstimatorSpec(mode, loss=x, train_op=v1.assign_add(v1.train.get_global_step(), 1).op)


@pytest.fixture(scope="module")
def opened() -> Iterator[tuple[Any, Any]]:
    program = build(Recipe(counting, data, lw.ModeKeys.TRAIN, {}, lw.RunConfig(tf_random_seed=1)))
    looks = ["pair:0", "whole:0", "many:0"]
    with program.graph.as_default():
        loop = fuse(program, looks, looks)
        finish_graph(program)
        session = open_session(program, SessionPlan(lambda: None))
    session.run(loop.prepare)
    yield loop, session
    session.close()


def test_each_step_has_its_row_also_those_before_a_failed_one(opened: tuple[Any, Any]) -> None:
    loop, session = opened
    tables, done = session.run([loop.recording.tables, loop.result.done], {loop.most: 3})
    assert done == 3
    rows = [loop.recording.values(tables, row) for row in range(3)]
    assert [row["pair:0"].tolist() for row in rows] == [[1, 2], [2, 4], [3, 6]]
    assert [row["whole:0"] for row in rows] == [1, 2, 3]
    assert [row["many:0"] for row in rows] == [False, False, True]
    assert [type(rows[0][name]) for name in ("whole:0", "many:0")] == [np.int32, np.bool_]

    session.run(loop.result.done)  # a call that does not record leaves no row
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run([loop.recording.tables, loop.result.done], {loop.most: 9})
    tables = session.run(loop.recording.saved)
    assert [loop.recording.values(tables, row)["whole:0"] for row in range(len(tables[0]))] == [5, 6, 7]


@pytest.mark.parametrize(
    ("shape", "dtype", "fits"),
    [
        ([], tf.float32, True),
        ([512, 512], tf.float32, True),
        ([513, 512], tf.float32, False),
        ([None, 2], tf.float32, False),
        (None, tf.float32, False),
        ([2], tf.string, False),
        ([2], tf.complex64, False),
        ([3], tf.bfloat16, True),
    ],
)
def test_only_small_numbers_of_fixed_shape_are_recorded(shape: Any, dtype: Any, fits: bool) -> None:
    with tf.Graph().as_default():
        assert can_be_recorded([v1.placeholder(dtype, shape)]) is fits
        assert can_be_recorded([tf.no_op()]) is False
