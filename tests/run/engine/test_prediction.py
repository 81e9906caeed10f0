"""Prediction is an ordinary generator: nothing of it is entered between two items."""

from __future__ import annotations

import gc
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw
from lightwell.errors import ModelFnError, UsageError

v1 = tf.compat.v1


@pytest.fixture(scope="module")
def trained(tmp_path_factory: Any) -> lw.Estimator:
    return tiny.trained(tmp_path_factory.mktemp("trained"), steps=2)


def expected(estimator: lw.Estimator) -> Any:
    return estimator.get_variable_value("w") * tiny.X + estimator.get_variable_value("b")


def predicting(predictions: Any, model_dir: Path) -> lw.Estimator:
    """An untrained model whose predictions are `predictions(features)`."""

    def model_fn(features: Any, mode: str) -> Any:
        return lw.EstimatorSpec(mode, predictions=predictions(features))

    return tiny.estimator(model_dir, model_fn)


def test_rows_come_in_the_order_of_the_data(trained: lw.Estimator) -> None:
    rows = list(trained.predict(tiny.once))
    assert [list(row) for row in rows] == [["out", "twice"]] * 8
    assert np.allclose([row["out"] for row in rows], expected(trained))
    assert isinstance(rows[0]["out"], np.float32)


def test_nothing_happens_before_the_first_item() -> None:
    called: list[str] = []
    made = predicting(lambda features: called.append("model"), Path("/nowhere"))
    made.predict(lambda: called.append("input"))
    assert called == []


def test_batches_and_keys(trained: lw.Estimator) -> None:
    first, second = trained.predict(tiny.once, yield_single_examples=False, predict_keys="twice")
    assert list(first) == ["twice"]
    assert np.allclose(np.concatenate([first["twice"], second["twice"]]), 2 * expected(trained))
    assert list(next(trained.predict(tiny.once, predict_keys=["twice", "out"]))) == ["out", "twice"]
    assert list(next(trained.predict(tiny.once, predict_keys=["out", "zzz"]))) == ["out"]
    assert list(next(trained.predict(tiny.once, predict_keys=[]))) == ["out", "twice"]


def test_kinds_of_rows(tmp_path: Path) -> None:
    def predictions(features: Any) -> Any:
        x = features["x"]
        return {
            "vector": tf.stack([x, x], axis=1),
            "whole": tf.cast(x, tf.int64),
            "flag": x > 1,
            "text": tf.strings.as_string(x, precision=0),
        }

    row = next(predicting(predictions, tmp_path).predict(tiny.once))
    assert row["vector"].tolist() == [1, 1]
    assert (row["whole"], row["flag"], row["text"]) == (1, False, b"1")
    assert [type(row[key]) for key in ("whole", "flag", "text")] == [np.int64, np.bool_, bytes]


def test_a_single_tensor_gives_arrays(tmp_path: Path) -> None:
    made = predicting(lambda features: tf.stack([features["x"]] * 2, axis=1), tmp_path)
    rows = list(made.predict(tiny.once))
    assert len(rows) == 8
    assert rows[1].tolist() == [2, 2]
    whole = list(made.predict(tiny.once, yield_single_examples=False))
    assert [batch.shape for batch in whole] == [(4, 2), (4, 2)]


def test_eager_code_works_while_iterating(trained: lw.Estimator) -> None:
    variable = tf.Variable(0.0)
    total = 0.0
    for row in trained.predict(tiny.once):
        assert tf.executing_eagerly()
        variable.assign_add(tf.constant(row["out"]))
        total += float(tf.square(row["out"]))
        assert v1.get_default_session() is None
    assert variable.numpy() == pytest.approx(expected(trained).sum(), rel=1e-5)
    assert total == pytest.approx(np.square(expected(trained)).sum(), rel=1e-5)


def test_a_graph_of_the_callers_own_stays_the_default(trained: lw.Estimator) -> None:
    with tf.Graph().as_default() as own:
        rows = trained.predict(tiny.once)
        next(rows)
        assert v1.get_default_graph() is own
        tf.constant(1.0)
        next(rows)
        assert [op.type for op in own.get_operations()] == ["Const"]


def test_generators_interleave(trained: lw.Estimator) -> None:
    forward = trained.predict(tiny.once)
    backward = trained.predict(
        lambda: tf.data.Dataset.from_tensor_slices(({"x": tiny.X[::-1].copy()}, tiny.Y)).batch(3)
    )
    same = trained.predict(tiny.once)
    seen = [(a["out"], b["out"], c["out"]) for a, b, c in zip(forward, backward, same, strict=True)]
    values = expected(trained)
    assert np.allclose([row[0] for row in seen], values)
    assert np.allclose([row[1] for row in seen], values[::-1])
    assert np.allclose([row[2] for row in seen], values)


def test_training_and_evaluating_between_two_items(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path, steps=1)
    before = expected(made)
    rows = made.predict(tiny.once)
    first = next(rows)["out"]
    made.train(tiny.data, steps=5)
    made.evaluate(tiny.once)
    rest = [row["out"] for row in rows]
    assert np.allclose([first, *rest], before), "a generator keeps the weights it began with"
    assert np.allclose([row["out"] for row in made.predict(tiny.once)], expected(made))
    assert not np.allclose(expected(made), before)


def test_generators_run_in_threads(trained: lw.Estimator) -> None:
    results: dict[int, list[Any]] = {}

    def work(number: int) -> None:
        results[number] = [row["out"] for row in trained.predict(tiny.once)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(np.allclose(rows, expected(trained)) for rows in results.values())


class Graphs(v1.train.SessionRunHook):
    """Remembers the graph and the session without holding them."""

    def __init__(self) -> None:
        self.ended = False

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.session, self.graph = weakref.ref(session), weakref.ref(session.graph)

    def end(self, session: Any) -> None:
        self.ended = True


@pytest.mark.parametrize("way", ["exhausted", "closed", "dropped"])
def test_a_generator_frees_its_session(trained: lw.Estimator, way: str) -> None:
    hook = Graphs()
    rows: Any = trained.predict(tiny.once, hooks=[hook])
    next(rows)
    assert hook.session() is not None
    if way == "exhausted":
        list(rows)
    elif way == "closed":
        rows.close()
    del rows
    gc.collect()
    assert hook.session() is None
    assert hook.graph() is None
    assert hook.ended == (way == "exhausted")


def test_an_estimator_that_is_gone_leaves_no_graph_behind(tmp_path: Path) -> None:
    graphs: list[weakref.ref[Any]] = []

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        graphs.append(weakref.ref(v1.get_default_graph()))
        return tiny.linear(features, labels, mode, {})

    made = tiny.estimator(tmp_path, model_fn)
    made.train(tiny.data, steps=1)
    made.evaluate(tiny.once)
    next(made.predict(tiny.once))
    del made
    gc.collect()
    assert len(graphs) == 3
    assert [graph() for graph in graphs] == [None] * 3


def test_hooks_stop_it_and_see_its_tensors(trained: lw.Estimator) -> None:
    class StopsAfterOne(v1.train.SessionRunHook):
        def before_run(self, run_context: Any) -> Any:
            return v1.train.SessionRunArgs(run_context.features["x"])

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.seen = run_values.results
            run_context.request_stop()

    hook = StopsAfterOne()
    assert len(list(trained.predict(tiny.data, hooks=[hook]))) == 4
    assert hook.seen.tolist() == [1, 2, 3, 4]


def test_an_error_of_a_hook_comes_out_and_no_row_of_its_batch(trained: lw.Estimator) -> None:
    class Fails(v1.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            raise KeyError("mine")

    rows = trained.predict(tiny.once, hooks=[Fails()])
    with pytest.raises(KeyError, match="mine"):
        next(rows)
    with pytest.raises(StopIteration):
        next(rows)


def test_an_error_in_the_middle_of_the_data_comes_after_the_rows_before_it(trained: lw.Estimator) -> None:
    def bad() -> Any:
        return tiny.once().map(
            lambda f, y: ({"x": tf.debugging.check_numerics(f["x"] / (f["x"] - 6), "six") * (f["x"] - 6)}, y)
        )

    rows = trained.predict(bad)
    assert [next(rows)["out"] for _ in range(4)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="six"):
        next(rows)
    assert len(list(trained.predict(tiny.once))) == 8


def test_arrays_and_tensors_without_a_dataset_go_on_for_ever(tmp_path: Path, log: LogLines) -> None:
    made = predicting(lambda features: {"x": features["x"]}, tmp_path)
    rows = made.predict(lambda: {"x": tf.constant([1.0, 2.0])})
    assert [next(rows)["x"] for _ in range(5)] == [1, 2, 1, 2, 1]
    (line,) = log.having("predict yields forever")
    assert line.startswith("WARNING")


def test_a_dataset_is_not_taken_for_endless(trained: lw.Estimator, log: LogLines) -> None:
    next(trained.predict(tiny.once))
    next(trained.predict(lambda: v1.data.make_one_shot_iterator(tiny.once()).get_next()))
    assert not log.having("forever")


REFUSED: list[tuple[Any, dict[str, Any], type, str]] = [
    (
        lambda f: {"a": f["x"]},
        {"predict_keys": ["zzz"]},
        UsageError,
        r"Expected to run at least one output from \['a'\], provided predict_keys=\['zzz'\]",
    ),
    (
        lambda f: f["x"],
        {"predict_keys": ["a"]},
        UsageError,
        "not valid in case of non-dict predictions. Leave predict_keys",
    ),
    (
        lambda f: {"a": f["x"], "b": f["x"][:2]},
        {},
        ModelFnError,
        r"Batch length of predictions should be same.*the first dimensions are {'a': 4, 'b': 2}.*yield_single_examples",
    ),
    (
        lambda f: {"a": tf.reduce_sum(f["x"])},
        {},
        ModelFnError,
        r"predictions\['a'\] has no batch dimension .*Pass yield_single_examples=False",
    ),
]


@pytest.mark.parametrize(("predictions", "arguments", "error", "text"), REFUSED)
def test_refusals(predictions: Any, arguments: dict[str, Any], error: type, text: str, tmp_path: Path) -> None:
    rows = predicting(predictions, tmp_path).predict(tiny.once, **arguments)
    with pytest.raises(error, match=f"predict: .*{text}"):
        next(rows)


def test_an_untrained_model_predicts_with_a_warning(tmp_path: Path, log: LogLines) -> None:
    rows = list(tiny.estimator(tmp_path / "none").predict(tiny.once))
    assert [row["out"] for row in rows] == tiny.X.tolist()
    assert log.having("running initialization to predict")
    assert not (tmp_path / "none").exists()
