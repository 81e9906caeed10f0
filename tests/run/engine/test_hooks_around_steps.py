"""A hook around steps: in which graph and session it is, and what it is given of what it asks for."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1
Args = v1.train.SessionRunArgs
Two = namedtuple("Two", "a b")


class Looks(v1.train.SessionRunHook):
    """Notes what is so at each moment."""

    def __init__(self) -> None:
        self.graphs: dict[str, Any] = {}
        self.finalized: dict[str, bool] = {}

    def _note(self, moment: str) -> None:
        graph = v1.get_default_graph()
        self.graphs[moment], self.finalized[moment] = graph, graph.finalized

    def begin(self) -> None:
        self._note("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._note("after_create_session")
        self.session, self.coord = session, coord

    def before_run(self, run_context: Any) -> Any:
        self._note("before_run")
        self.original = run_context.original_args
        self.same_session = run_context.session is self.session
        return Args({"loss": run_context.loss, "x": [run_context.features["x"]]})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._note("after_run")
        self.values = run_values

    def end(self, session: Any) -> None:
        self._note("end")


def test_hooks_work_in_the_models_graph_which_is_final_once_there_is_a_session(tmp_path: Path) -> None:
    hook = Looks()
    tiny.estimator(tmp_path).train(tiny.once, hooks=[hook], steps=1)
    assert len({id(graph) for graph in hook.graphs.values()}) == 1
    moments = ("begin", "after_create_session", "before_run", "after_run", "end")
    assert hook.finalized == {moment: moment != "begin" for moment in moments}
    assert isinstance(hook.session, v1.Session)
    assert isinstance(hook.coord, tf.train.Coordinator)
    assert hook.same_session
    assert hook.values.results["x"][0].tolist() == [1, 2, 3, 4]
    assert hook.values.results["loss"] == np.square(tiny.X[:4]).mean()
    assert hook.values.options == v1.RunOptions()
    assert len(hook.original.fetches) == 2
    assert tf.executing_eagerly()


class Asks(v1.train.SessionRunHook):
    """Asks for what `wanted` makes of the graph; called at every step."""

    def __init__(self, wanted: Any) -> None:
        self.wanted = wanted
        self.results: list[Any] = []

    def begin(self) -> None:
        self.fetches = self.wanted(v1.get_default_graph())

    def before_run(self, run_context: Any) -> Any:
        return Args(self.fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.results.append(run_values.results)


class AsksOnSchedule(lw.ScheduledHook, Asks):
    """The same where steps are fused."""

    def looks_at(self) -> Any:
        return self.fetches

    def before_run(self, run_context: Any) -> Any:
        return Asks.before_run(self, run_context)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        Asks.after_run(self, run_context, run_values)


def structures(graph: Any) -> Any:
    x = graph.get_tensor_by_name("IteratorGetNext:0")
    text = tf.strings.as_string(x, precision=0)
    return {
        "z": x,
        "a": [x[0], tf.no_op(), "IteratorGetNext:1"],
        "named": Two(x[1], {"t": text}),
        "tuple": (x[2],),
        "nothing": [],
        "sparse": tf.sparse.from_dense([[0.0, 3.0]] * x[:2][:, None]),
        "ragged": tf.RaggedTensor.from_row_lengths(x, [1, 3]),
        "slices": tf.IndexedSlices(x[:1], tf.constant([7])),
        "variable": next(v for v in v1.global_variables() if v.op.name == "w"),
        "by path": "features/x",
        "ordered": OrderedDict(b=x[0], a=x[1]),
        ("a", "key"): x[3],
        5: tf.constant(2, tf.int64),
    }


@pytest.mark.parametrize("kind", [Asks, AsksOnSchedule])
def test_what_a_hook_asks_for_comes_back_in_its_form(tmp_path: Path, kind: Any) -> None:
    hook = kind(structures)
    tiny.estimator(tmp_path).train(tiny.data, hooks=[hook], steps=3)
    for found in hook.results:
        assert list(found) == list(hook.fetches)
    first = hook.results[0]
    assert first["z"].tolist() == first["by path"].tolist() == [1, 2, 3, 4]
    assert first["a"][:2] == [1, None]
    assert first["a"][2].tolist() == [2, 4, 6, 8]
    assert isinstance(first["named"], Two)
    assert (first["named"].a, first["named"].b["t"].tolist()) == (2, [b"1", b"2", b"3", b"4"])
    assert (first["tuple"], first["nothing"]) == ((3,), [])
    assert isinstance(first["sparse"], v1.SparseTensorValue)
    assert (first["sparse"].indices.tolist(), first["sparse"].values.tolist()) == ([[0, 1], [1, 1]], [3, 6])
    assert first["ragged"].to_list() == [[1], [2, 3, 4]]
    slices = first["slices"]
    assert (slices.values.tolist(), slices.indices.tolist(), slices.dense_shape) == ([1], [7], None)
    assert list(first["ordered"].items()) == [("b", 1), ("a", 2)]
    assert (first["a", "key"], first[5]) == (4, 2)
    assert [type(first["a"][0]), type(first[5])] == [np.float32, np.int64]
    assert [found["z"][0] for found in hook.results] == [1, 5, 1]


def test_fetches_that_change_from_step_to_step_are_seen(tmp_path: Path) -> None:
    class Changes(v1.train.SessionRunHook):
        def __init__(self) -> None:
            self.fetches: list[Any] = [None]
            self.results: list[Any] = []

        def before_run(self, run_context: Any) -> Any:
            chosen = run_context.loss if run_context.batch % 2 else run_context.features["x"]
            self.fetches[0] = chosen
            return Args(self.fetches)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.results.append(np.ndim(run_values.results[0]))

    hook = Changes()
    tiny.estimator(tmp_path).train(tiny.data, hooks=[hook], steps=4)
    assert hook.results == [0, 1, 0, 1]


def test_a_hook_that_makes_up_new_fetches_for_each_step_is_served(tmp_path: Path) -> None:
    class MakesUp(Asks):
        def before_run(self, run_context: Any) -> Any:
            return Args({str(run_context.batch): run_context.features["x"]})

    hook = MakesUp(lambda graph: None)
    tiny.estimator(tmp_path).train(tiny.data, hooks=[hook], steps=100)
    assert [list(found) for found in hook.results] == [[str(batch)] for batch in range(1, 101)]


def test_a_hook_may_add_to_the_graph_in_begin(tmp_path: Path) -> None:
    class Adds(v1.train.SessionRunHook):
        def begin(self) -> None:
            self.twice = 2 * v1.get_default_graph().get_tensor_by_name("w/Read/ReadVariableOp:0")

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.seen = run_context.session.run(self.twice)

    hook = Adds()
    tiny.estimator(tmp_path).train(tiny.once, hooks=[hook], steps=1)
    assert hook.seen > 2


def test_queue_runners_feed_a_training_and_stop_with_their_data(tmp_path: Path) -> None:
    def input_fn() -> Any:
        queue = v1.train.slice_input_producer([tiny.X, tiny.Y], num_epochs=2, shuffle=False)
        x, y = v1.train.batch(queue, batch_size=4, allow_smaller_final_batch=True)
        return {"x": x}, y

    made = tiny.estimator(tmp_path)
    made.train(input_fn)
    assert made.evaluate(input_fn)["global_step"] == 4
    assert len(list(made.predict(input_fn))) == 16
