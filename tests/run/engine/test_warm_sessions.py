"""Sessions stay open between calls of evaluate and predict, and no answer ever tells.

Every call builds input and model anew; a session is used again only where a new one would answer the same. Whoever
vouches for `model_fn` with `pure_model_fn` saves building it, too.
"""

from __future__ import annotations

import copy
import gc
import shutil
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines
from tests.run.engine.fused_runs import Calls

import lightwell as lw

v1 = tf.compat.v1
ROWS = np.arange(12, dtype=np.float32).reshape(6, 2)


class Model:
    """A model function that notes its calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __call__(self, features: Any, labels: Any, mode: str) -> Any:
        self.calls.append(mode)
        scale = v1.get_variable("scale", [], initializer=tf.ones_initializer())
        out = features["x"] * scale
        if mode == lw.ModeKeys.PREDICT:
            return lw.EstimatorSpec(mode, predictions={"out": out})
        loss = tf.reduce_mean(tf.square(out - labels))
        train_op = v1.train.GradientDescentOptimizer(0.001).minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)


class Sessions(Calls):
    """Notes in which session each run was, without keeping it alive."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[weakref.ref[Any]] = []

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.seen.append(weakref.ref(session))

    @property
    def is_one(self) -> bool:
        """Whether all runs were in one session."""
        return len({id(session()) for session in self.seen}) == 1 and self.seen[0]() is not None


def rows_of(array: np.ndarray) -> Any:
    return lambda: tf.data.Dataset.from_tensor_slices({"x": array}).batch(2)


def pairs_of(array: np.ndarray) -> Any:
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": array}, array * 2)).batch(2)


def outputs(est: lw.Estimator, input_fn: Any, **given: Any) -> np.ndarray:
    return np.reshape([row["out"] for row in est.predict(input_fn, **given)], [-1, 2])


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a trained model, for tests that do not train it further."""
    folder = tmp_path_factory.mktemp("trained")
    lw.Estimator(Model(), folder).train(pairs_of(ROWS), steps=1)
    return folder


@pytest.fixture(params=[False, True], ids=["", "pure"])
def trained(request: Any, model_dir: Path) -> Iterator[tuple[lw.Estimator, Model, bool]]:
    """A trained model, its function, and whether it is vouched for."""
    model = Model()
    est = lw.Estimator(model, model_dir, lw.RunConfig(pure_model_fn=request.param))
    yield est, model, request.param
    est.close()


@pytest.fixture
def est(model_dir: Path) -> Iterator[lw.Estimator]:
    made = lw.Estimator(Model(), model_dir)
    yield made
    made.close()


def test_a_session_serves_again_with_the_arrays_of_the_call(est: lw.Estimator, log: LogLines) -> None:
    scale, sessions = est.weights["scale"], Sessions()
    for array in (ROWS, ROWS + 1, ROWS[:1], ROWS[:0]):
        np.testing.assert_allclose(outputs(est, rows_of(array), hooks=[sessions]), array * scale, rtol=1e-6)
    assert sessions.is_one
    assert len(log.having("Restoring parameters")) == 1
    assert len(log.having("Calling model_fn")) == 4


def test_a_model_that_is_vouched_for_is_built_once(trained: tuple[lw.Estimator, Model, bool]) -> None:
    est, model, is_pure = trained
    inputs: list[int] = []

    def input_fn(array: np.ndarray) -> Any:
        inputs.append(len(array))
        return rows_of(array)()

    for array in (ROWS, ROWS + 1, ROWS[:1]):
        found = outputs(est, lambda array=array: input_fn(array))
        np.testing.assert_allclose(found, array * est.weights["scale"], rtol=1e-6)
    assert model.calls == ["infer"] * (1 if is_pure else 3)
    assert inputs == [6, 6, 1], "the input is always the call's own"


def test_weights_are_those_of_the_newest_checkpoint(tmp_path: Path) -> None:
    model = Model()
    est = lw.Estimator(model, tmp_path)
    losses = []
    for steps in (1, 2):
        est.train(pairs_of(ROWS), steps=1)
        np.testing.assert_allclose(outputs(est, rows_of(ROWS)), ROWS * est.weights["scale"], rtol=1e-6)
        result = est.evaluate(pairs_of(ROWS))
        assert result["global_step"] == steps
        losses.append(result["loss"])
    assert losses[1] < losses[0]
    assert model.calls == ["train", "infer", "eval"] * 2


def test_a_checkpoint_written_again_under_its_name_is_read_again(tmp_path: Path) -> None:
    est = lw.Estimator(Model(), tmp_path)
    est.train(pairs_of(ROWS), steps=1)
    before = outputs(est, rows_of(ROWS))
    with tf.Graph().as_default(), v1.Session() as session:
        variables = [v1.get_variable("scale", initializer=7.0), v1.train.create_global_step()]
        session.run(v1.global_variables_initializer())
        v1.train.Saver(variables).save(session, est.latest_checkpoint(), write_meta_graph=False)
    assert not np.allclose(outputs(est, rows_of(ROWS)), before)
    np.testing.assert_allclose(outputs(est, rows_of(ROWS)), ROWS * 7)


def test_metrics_start_from_zero_each_time(trained: tuple[lw.Estimator, Model, bool]) -> None:
    est, model, is_pure = trained
    first = est.evaluate(pairs_of(ROWS))
    assert est.evaluate(pairs_of(ROWS)) == first
    assert est.evaluate(pairs_of(ROWS), steps=1)["loss"] < first["loss"]
    assert est.evaluate(pairs_of(ROWS)) == first
    assert model.calls == ["eval"] * (1 if is_pure else 4)


def test_interleaved_generators_have_sessions_of_their_own(trained: tuple[lw.Estimator, Model, bool]) -> None:
    est, _, _ = trained
    for _ in range(2):
        both = zip(est.predict(rows_of(ROWS)), est.predict(rows_of(ROWS * 10)), strict=True)
        for one, ten in both:
            np.testing.assert_allclose(one["out"] * 10, ten["out"], rtol=1e-5)


def test_another_pipeline_is_another_answer(trained: tuple[lw.Estimator, Model, bool]) -> None:
    est, _, _ = trained
    scale = est.weights["scale"]
    for factor in (1.0, 2.0, 3.0, 2.0):
        found = outputs(est, lambda factor=factor: rows_of(ROWS)().map(lambda f: {"x": f["x"] * factor}))
        np.testing.assert_allclose(found, ROWS * factor * scale, rtol=1e-6)
    wide = np.concatenate([ROWS, ROWS], axis=1)
    found = [row["out"] for row in est.predict(rows_of(wide))]
    np.testing.assert_allclose(found, wide * scale, rtol=1e-6)
    assert [len(batch["out"]) for batch in est.predict(rows_of(ROWS), yield_single_examples=False)] == [2, 2, 2]
    thirds = est.predict(lambda: rows_of(ROWS)().unbatch().batch(3), yield_single_examples=False)
    assert [len(batch["out"]) for batch in thirds] == [3, 3]


def test_functions_are_told_by_what_they_do_not_by_their_names(trained: tuple[lw.Estimator, Model, bool]) -> None:
    est, model, is_pure = trained
    sessions = Sessions()
    for _ in range(3):
        hooks = [] if is_pure else [sessions]
        outputs(est, lambda: rows_of(ROWS)().map(lambda f: {"x": f["x"] * 2}), hooks=hooks)
    assert model.calls == ["infer"] * (1 if is_pure else 3)
    assert is_pure or sessions.is_one


def test_an_input_that_shuffles_starts_from_its_beginning(trained: tuple[lw.Estimator, Model, bool]) -> None:
    est, _, _ = trained
    shuffled = lambda: rows_of(ROWS)().shuffle(6, seed=1)  # noqa: E731
    expected = outputs(lw.Estimator(Model(), est.model_dir), shuffled)
    for _ in range(3):
        np.testing.assert_array_equal(outputs(est, shuffled), expected)


def test_an_input_that_is_generated_is_that_of_the_call(trained: tuple[lw.Estimator, Model, bool]) -> None:
    est, _, _ = trained

    def generated(array: np.ndarray) -> Any:
        spec = tf.TensorSpec([2], tf.float32)
        rows = tf.data.Dataset.from_generator(lambda: iter(array), output_signature=spec)
        return rows.map(lambda x: {"x": x}).batch(2)

    for factor in (1, 1, 5):
        found = outputs(est, lambda factor=factor: generated(ROWS * factor))
        np.testing.assert_allclose(found, ROWS * factor * est.weights["scale"], rtol=1e-6)


def test_an_abandoned_generator_gives_its_session_back(est: lw.Estimator) -> None:
    sessions = Sessions()
    generator: Any = est.predict(rows_of(ROWS), hooks=[sessions])
    next(generator)
    generator.close()
    assert len(outputs(est, rows_of(ROWS), hooks=[sessions])) == 6
    assert sessions.is_one


def test_close_frees_sessions_also_those_still_in_use(trained: tuple[lw.Estimator, Model, bool]) -> None:
    est, model, is_pure = trained
    outputs(est, rows_of(ROWS))
    under_way = est.predict(rows_of(ROWS))
    next(under_way)
    est.close()
    assert len(list(under_way)) == 5, "whoever is under way goes on"
    sessions = Sessions()
    outputs(est, rows_of(ROWS), hooks=[sessions])
    est.close()
    gc.collect()
    assert sessions.seen[0]() is None
    assert len(model.calls) == (2 if is_pure else 3)


def test_taps_and_keys_never_get_in_each_others_way(trained: tuple[lw.Estimator, Model, bool]) -> None:
    est, model, is_pure = trained
    for _ in range(2):
        assert list(next(est.predict(rows_of(ROWS), taps=["features/x"]))) == ["out", "features/x"]
        assert list(next(est.predict(rows_of(ROWS)))) == ["out"]
        assert list(next(est.predict(rows_of(ROWS), taps=["features/x"], predict_keys=[]))) == ["features/x"]
        statistics = next(est.predict(rows_of(ROWS), taps=[lw.stats("features/x")])).batch["features/x"]
        assert statistics.max == 3
    assert len(model.calls) == (3 if is_pure else 8)


def test_many_kinds_of_calls_do_not_pile_up_sessions(est: lw.Estimator) -> None:
    sessions = Sessions()
    for size in range(1, 12):
        outputs(est, lambda size=size: rows_of(ROWS)().unbatch().batch(size), hooks=[sessions])
    gc.collect()
    assert len([one for one in sessions.seen if one() is not None]) <= 4


def test_a_copy_of_an_estimator_has_sessions_of_its_own(est: lw.Estimator) -> None:
    sessions = Sessions()
    expected = outputs(est, rows_of(ROWS), hooks=[sessions])
    np.testing.assert_array_equal(outputs(copy.deepcopy(est), rows_of(ROWS), hooks=[sessions]), expected)
    assert not sessions.is_one


def test_sparse_features_are_told_apart_by_key(tmp_path: Path) -> None:
    def model_fn(features: Any, mode: str) -> Any:
        v1.get_variable("unused", [], initializer=tf.ones_initializer())
        (key,) = features
        return lw.EstimatorSpec(mode, predictions={key: tf.sparse.to_dense(features[key])})

    def rows_under(key: str) -> list[Any]:
        def input_fn() -> Any:
            sparse = tf.SparseTensor([[0, 0], [1, 1]], [1.0, 2.0], [2, 2])
            return tf.data.Dataset.from_tensor_slices({key: sparse}).batch(2)

        return [row[key].tolist() for row in est.predict(input_fn)]

    est = lw.Estimator(model_fn, tmp_path)
    assert [rows_under(key) for key in ("a", "b", "a")] == [[[1.0, 0.0], [0.0, 2.0]]] * 3


class Fresh:
    """A model with a state beyond its weights, and what each call shall find of it."""

    def __init__(self, directory: Path) -> None:
        self.bias, self.calls = 0.0, 0
        self.words = directory / "words.txt"
        self.words.write_text("a\nb\n")

    def closure(self, x: Any) -> Any:
        return x + self.bias

    def python(self, x: Any) -> Any:
        self.calls += 1
        return x + float(self.calls)

    def vocabulary(self, x: Any) -> Any:
        found = tf.lookup.TextFileInitializer(
            str(self.words),
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
        )
        table = tf.lookup.StaticHashTable(found, -1)
        return x + tf.cast(table.lookup(tf.constant("b")), tf.float32)

    def variable(self, x: Any) -> Any:
        seen = v1.get_variable("seen", [], initializer=tf.zeros_initializer(), trainable=False)
        return x + seen.assign_add(1.0)

    def mutable(self, x: Any) -> Any:
        table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, 0.0)
        key = tf.constant([0], tf.int64)
        with tf.control_dependencies([table.insert(key, table.lookup(key) + 1.0)]):
            return x + table.lookup(key)

    def noise(self, x: Any) -> Any:
        return x + tf.random.uniform([1], seed=3)


@pytest.mark.parametrize("kind", ["closure", "python", "vocabulary", "variable", "mutable", "noise"])
def test_whatever_has_a_state_is_as_in_a_new_session(tmp_path: Path, kind: str) -> None:
    fresh = Fresh(tmp_path)

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        w = v1.get_variable("w", [], initializer=tf.ones_initializer())
        out = getattr(fresh, kind)(features["x"] * w)
        if mode == lw.ModeKeys.PREDICT:
            return lw.EstimatorSpec(mode, predictions={"out": out})
        loss = tf.reduce_mean(out)
        step = v1.train.get_global_step()
        return lw.EstimatorSpec(mode, loss=loss, train_op=v1.assign_add(step, 1))

    def answers(est: lw.Estimator) -> list[Any]:
        return [est.evaluate(tiny.once)["loss"], *[row["out"] for row in est.predict(tiny.once)]]

    def make() -> lw.Estimator:
        return lw.Estimator(model_fn, str(tmp_path / "model"), lw.RunConfig(tf_random_seed=1))

    make().train(tiny.data, steps=1)
    kept = make()
    for _ in range(3):
        calls, expected = fresh.calls, answers(make())
        fresh.calls = calls
        assert answers(kept) == expected
        fresh.bias += 1.0
        fresh.words.write_text(f"{fresh.bias}\n" + fresh.words.read_text())


def test_ordinary_hooks_get_a_session_of_their_own_graph(est: lw.Estimator) -> None:
    class Holds(v1.train.SessionRunHook):
        def begin(self) -> None:
            self.twice = 2 * v1.get_default_graph().get_tensor_by_name("mul:0")

        def before_run(self, run_context: Any) -> Any:
            return v1.train.SessionRunArgs(self.twice)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.seen = run_values.results

    expected = outputs(est, rows_of(ROWS))
    for _ in range(2):
        hook = Holds()
        np.testing.assert_array_equal(outputs(est, rows_of(ROWS), hooks=[hook]), expected)
        np.testing.assert_array_equal(hook.seen, 2 * expected[-2:])


def test_a_failed_call_leaves_no_half_used_session(est: lw.Estimator) -> None:
    expected = est.evaluate(pairs_of(ROWS))

    def bad(array: np.ndarray) -> Callable[[], Any]:
        checked = lambda f, y: ({"x": tf.debugging.check_numerics(f["x"], "six")}, y)  # noqa: E731
        return lambda: pairs_of(array)().map(checked)

    broken = ROWS.copy()
    broken[5] = np.nan
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="six"):
            est.evaluate(bad(broken))
        assert est.evaluate(bad(ROWS)) == expected


def test_a_vouched_model_with_hooks_or_draws_of_its_own_gets_a_fresh_session(tmp_path: Path) -> None:
    class Counts(v1.train.SessionRunHook):  # type: ignore[misc]
        begun = 0

        def begin(self) -> None:
            Counts.begun += 1

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        scale = v1.get_variable("scale", [], initializer=tf.ones_initializer())
        out = features["x"] * scale + tf.random.uniform([], seed=3)
        if mode == lw.ModeKeys.PREDICT:
            return lw.EstimatorSpec(mode, {"out": out}, prediction_hooks=[Counts()])
        loss = tf.reduce_mean(tf.square(out - labels))
        train_op = v1.train.GradientDescentOptimizer(0.001).minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    est = lw.Estimator(model_fn, str(tmp_path), lw.RunConfig(pure_model_fn=True))
    est.train(pairs_of(ROWS), steps=1)
    found = [np.array([row["out"] for row in est.predict(rows_of(ROWS))]).tolist() for _ in range(3)]
    assert found[0] == found[1] == found[2]
    assert Counts.begun == 3


def test_a_vouched_model_that_is_gone_from_disk_starts_over_as_in_a_new_process(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        scale = v1.get_variable("scale", [], initializer=v1.random_uniform_initializer(seed=5))
        out = features["x"] * scale
        if mode == lw.ModeKeys.PREDICT:
            return lw.EstimatorSpec(mode, {"out": out})
        loss = tf.reduce_mean(tf.square(out - labels))
        train_op = v1.train.GradientDescentOptimizer(0.001).minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def answer(est: lw.Estimator) -> Any:
        return np.array([row["out"] for row in est.predict(rows_of(ROWS))]).tolist()

    model_dir = tmp_path / "model"
    est = lw.Estimator(model_fn, str(model_dir), lw.RunConfig(pure_model_fn=True))
    est.train(pairs_of(ROWS), steps=1)
    answer(est)
    shutil.rmtree(model_dir)
    new = answer(lw.Estimator(model_fn, str(tmp_path / "other")))
    assert [answer(est), answer(est)] == [new, new]
