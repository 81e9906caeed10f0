"""Repeated evaluate and predict calls use built programs again, and never the wrong one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
ROWS = np.arange(12, dtype=np.float32).reshape(6, 2)


class Model:
    """A model function that counts its calls."""

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


def rows_of(array: np.ndarray) -> Any:
    return lambda: tf.data.Dataset.from_tensor_slices({"x": array}).batch(2)


def pairs_of(array: np.ndarray) -> Any:
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": array}, array * 2)).batch(2)


def trained(tmp_path: Path) -> tuple[lw.Estimator, Model]:
    model = Model()
    est = lw.Estimator(model, tmp_path)
    est.train(pairs_of(ROWS), steps=1)
    model.calls.clear()
    return est, model


def test_a_second_call_uses_the_program_with_the_arrays_of_its_own(tmp_path: Path) -> None:
    est, model = trained(tmp_path)
    scale = est.weights["scale"]
    for array in (ROWS, ROWS + 1, ROWS[:1], ROWS[:0]):
        out = [row["out"] for row in est.predict(rows_of(array))]
        np.testing.assert_allclose(np.reshape(out, [-1, 2]), array * scale, rtol=1e-6)
    assert model.calls == ["infer"]


def test_weights_are_those_of_the_newest_checkpoint(tmp_path: Path) -> None:
    est, model = trained(tmp_path)
    before = next(est.predict(rows_of(ROWS[1:])))["out"]
    first = est.evaluate(pairs_of(ROWS))
    est.train(pairs_of(ROWS), steps=1)
    np.testing.assert_allclose(next(est.predict(rows_of(ROWS[1:])))["out"], ROWS[1] * est.weights["scale"], rtol=1e-6)
    assert next(est.predict(rows_of(ROWS[1:])))["out"][0] != before[0]
    second = est.evaluate(pairs_of(ROWS))
    assert (first["global_step"], second["global_step"]) == (1, 2)
    assert second["loss"] < first["loss"]
    assert model.calls == ["infer", "eval", "train"]


def test_metrics_start_from_zero_each_time(tmp_path: Path) -> None:
    est, _ = trained(tmp_path)
    first = est.evaluate(pairs_of(ROWS))
    assert est.evaluate(pairs_of(ROWS)) == first
    assert est.evaluate(pairs_of(ROWS), steps=1)["loss"] < first["loss"]


def test_interleaved_generators_have_programs_of_their_own(tmp_path: Path) -> None:
    est, _ = trained(tmp_path)
    both = zip(est.predict(rows_of(ROWS)), est.predict(rows_of(ROWS * 10)), strict=True)
    for one, ten in both:
        np.testing.assert_allclose(one["out"] * 10, ten["out"], rtol=1e-5)


def test_another_pipeline_is_another_program(tmp_path: Path) -> None:
    est, model = trained(tmp_path)
    list(est.predict(rows_of(ROWS)))
    doubled = est.predict(
        lambda: tf.data.Dataset.from_tensor_slices({"x": ROWS}).map(lambda f: {"x": f["x"] * 2}).batch(2)
    )
    np.testing.assert_allclose([r["out"] for r in doubled], ROWS * 2 * est.weights["scale"], rtol=1e-6)
    tripled = est.predict(
        lambda: tf.data.Dataset.from_tensor_slices({"x": ROWS}).map(lambda f: {"x": f["x"] * 3}).batch(2)
    )
    np.testing.assert_allclose([r["out"] for r in tripled], ROWS * 3 * est.weights["scale"], rtol=1e-6)
    assert model.calls == ["infer"] * 3


def test_the_same_map_function_is_the_same_program(tmp_path: Path) -> None:
    est, model = trained(tmp_path)

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices({"x": ROWS}).map(lambda f: {"x": f["x"] * 2}).batch(2)

    list(est.predict(input_fn))
    list(est.predict(input_fn))
    assert model.calls == ["infer"]


def test_a_shuffled_input_is_built_anew(tmp_path: Path) -> None:
    est, model = trained(tmp_path)
    for _ in range(2):
        list(est.predict(lambda: tf.data.Dataset.from_tensor_slices({"x": ROWS}).shuffle(6).batch(2)))
    assert model.calls == ["infer", "infer"]


def test_an_abandoned_generator_gives_its_program_back(tmp_path: Path) -> None:
    est, model = trained(tmp_path)
    generator = est.predict(rows_of(ROWS))
    next(generator)
    generator.close()
    assert len(list(est.predict(rows_of(ROWS)))) == 6
    assert model.calls == ["infer"]


def test_close_frees_and_the_next_call_builds(tmp_path: Path) -> None:
    est, model = trained(tmp_path)
    list(est.predict(rows_of(ROWS)))
    est.close()
    list(est.predict(rows_of(ROWS)))
    assert model.calls == ["infer", "infer"]


def test_taps_have_programs_of_their_own(tmp_path: Path) -> None:
    est, model = trained(tmp_path)
    for _ in range(2):
        assert list(next(est.predict(rows_of(ROWS), taps=["features/x"]))) == ["out", "features/x"]
        assert list(next(est.predict(rows_of(ROWS)))) == ["out"]
    assert model.calls == ["infer", "infer"]


def test_sparse_features_are_fingerprinted_by_key(tmp_path: Path) -> None:
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
