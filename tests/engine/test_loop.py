"""The loop in the graph: how far a call runs, what it leaves, and what can be seen of its last step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw
from lightwell.engine.build import Recipe, build
from lightwell.engine.fuse import FusedLoop, fuse
from lightwell.engine.session import SessionPlan, finish_graph, open_session
from lightwell.errors import HookError

v1 = tf.compat.v1


def data() -> Any:
    return tf.data.Dataset.range(1, 21).map(lambda x: {"x": tf.cast(x, tf.float32)})


def adding(features: Any, mode: str) -> lw.EstimatorSpec:
    """Adds x to a variable; the loss is x, but NaN at 15."""
    total = v1.get_variable("total", [], initializer=v1.zeros_initializer())
    x = features["x"]
    tf.reshape(x * x, [1], name="values")
    tf.strings.as_string(x, precision=1, name="text")
    loss = tf.where(tf.equal(x, 15), np.nan, x)
    step = v1.assign_add(v1.train.get_global_step(), 1)
    return lw.EstimatorSpec(mode, loss=loss, train_op=tf.group(total.assign_add(x), step))


class Loop:
    """A loop and a session with it."""

    def __init__(self) -> None:
        config = lw.RunConfig(tf_random_seed=1)
        self.program = build(Recipe(adding, data, lw.ModeKeys.TRAIN, {}, config))
        self.graph = self.program.graph
        self.before = {op.name for op in self.graph.get_operations()}
        with self.graph.as_default():
            self.noted = tf.print("noted", output_stream="file:///dev/null")
            values = self.graph.get_tensor_by_name("values:0")
            self.sparse = tf.SparseTensor(tf.constant([[0, 1]], tf.int64), values, [1, 3])
            looks = ["text:0", self.sparse, self.noted, self.program.spec.loss]
            self.loop: FusedLoop = fuse(self.program, looks)
            finish_graph(self.program)
            self.session = open_session(self.program, SessionPlan(lambda: None))
        self.session.run(self.loop.prepare)

    def run(self, most: int = 1, until: int | None = None) -> tuple[int, float, int]:
        feeds = {self.loop.most: most} | ({} if until is None else {self.loop.until: until})
        result = self.loop.result
        done, loss, step = self.session.run([result.done, result.loss, result.global_step], feeds)
        return int(done), float(loss), int(step)


@pytest.fixture
def loop() -> Iterator[Loop]:
    made = Loop()
    yield made
    made.session.close()


def test_it_runs_as_many_steps_as_it_may_and_one_if_not_told(loop: Loop) -> None:
    assert loop.run(4) == (4, 4.0, 4)
    result = loop.loop.result
    assert loop.session.run([result.done, result.loss, result.global_step]) == [1, 5.0, 5]
    assert loop.session.run("total/Read/ReadVariableOp:0") == 15


def test_it_comes_back_at_a_step(loop: Loop) -> None:
    assert loop.run(100, until=7) == (7, 7.0, 7)
    assert loop.run(100, until=9) == (2, 9.0, 9)


def test_it_stops_at_a_loss_that_is_no_number(loop: Loop) -> None:
    done, loss, step = loop.run(100)
    assert (done, step) == (15, 15)
    assert np.isnan(loss)


def test_the_steps_before_the_end_of_the_data_are_not_lost(loop: Loop) -> None:
    loop.run(100)
    with pytest.raises(tf.errors.OutOfRangeError):
        loop.run(100)
    saved = loop.loop.saved
    assert loop.session.run([saved.done, saved.loss, saved.global_step]) == [5, 20.0, 20]
    with pytest.raises(tf.errors.OutOfRangeError):
        loop.run(100)
    assert loop.session.run(saved.done) == 0


def test_taps_show_the_last_step_in_the_form_that_was_asked_for(loop: Loop) -> None:
    asked = {"text": "text:0", "more": [loop.sparse, loop.noted], "loss": loop.program.spec.loss}
    translated = loop.loop.translated(asked)
    seen = loop.session.run(translated, {loop.loop.most: 3})
    assert seen["text"] == b"3.0"
    assert seen["loss"] == 3.0
    sparse, noted = seen["more"]
    assert noted is None
    assert (sparse.indices.tolist(), sparse.values.tolist(), sparse.dense_shape.tolist()) == ([[0, 1]], [9.0], [1, 3])


def test_what_is_not_tapped_is_refused(loop: Loop) -> None:
    with pytest.raises(HookError, match=r"asked for 'IteratorGetNext:0', which its looks_at\(\) did not name"):
        loop.loop.translated("IteratorGetNext:0")


def test_nothing_of_the_model_changes(loop: Loop) -> None:
    names = [variable.op.name for variable in loop.graph.get_collection(v1.GraphKeys.GLOBAL_VARIABLES)]
    assert sorted(names) == ["global_step", "total"]
    assert loop.graph.get_collection(v1.GraphKeys.LOCAL_VARIABLES) == []
    assert {op.name for op in loop.graph.get_operations()} >= loop.before
