"""`numpy_input_fn`: the batches, numbers and errors of tf.estimator 2.15, with the arrays outside of the graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.parity import recordings
from tests.parity.row_models import RUNS
from tests.parity.row_scenes import NUMPY, REFUSED, outcome
from tests.run.inputs.refused import check_refusal
from tests.run.inputs.rows import Echo, numbers, predicted, read

import lightwell as lw
from lightwell.compat.v1 import estimator

v1 = tf.compat.v1
RECORDED = recordings.load_json("rows")
numpy_input_fn = estimator.inputs.numpy_input_fn
OURS = [name for name in REFUSED if name.startswith("numpy")]


def test_every_scene_is_recorded() -> None:
    assert list(NUMPY) == list(RECORDED["numpy"])
    assert list(REFUSED) == list(RECORDED["refused"])
    assert list(RUNS) == list(RECORDED["runs"])


@pytest.mark.parametrize("name", NUMPY)
def test_batches_are_those_of_the_original(name: str) -> None:
    assert json.loads(json.dumps(outcome(NUMPY[name], estimator.inputs))) == RECORDED["numpy"][name]


@pytest.mark.parametrize("name", OURS)
def test_refusals_keep_the_words_of_the_original(name: str) -> None:
    check_refusal(*REFUSED[name], RECORDED["refused"][name])


@pytest.mark.parametrize("name", [name for name in RUNS if name != "a frame"])
def test_models_learn_the_same_numbers(name: str, tmp_path: Path) -> None:
    made, expected = RUNS[name](estimator, tmp_path), RECORDED["runs"][name]
    assert sorted(made) == sorted(expected)
    for key, values in expected.items():
        if isinstance(values, dict):
            assert made[key] == pytest.approx(values, rel=1e-4, abs=1e-6)
        else:
            np.testing.assert_allclose(made[key], values, **recordings.CLOSE)


def test_an_estimator_gets_the_batches_of_a_plain_graph(tmp_path: Path) -> None:
    x = {"b": np.arange(7), "a": np.array(["p", "q", "r", "s", "t", "u", "v"]), "c": np.eye(7, dtype=np.float32)}
    made, plain = [
        reader(numpy_input_fn(x, batch_size=3, num_epochs=2, shuffle=False)) for reader in (_of(tmp_path), read)
    ]
    assert len(made) == len(plain) == 5
    for ours, theirs in zip(made, plain, strict=True):
        assert list(ours) == list(theirs) == ["a", "b", "c"]
        for key in ours:
            np.testing.assert_array_equal(ours[key], theirs[key])


def _of(folder: Path) -> Any:
    return lambda input_fn: predicted(folder, input_fn)


def test_the_graph_does_not_hold_the_arrays(tmp_path: Path) -> None:
    large = np.zeros([100_000, 20], np.float32)
    input_fn, model = numpy_input_fn({"x": large}, batch_size=50_000, shuffle=False), Echo()
    assert len(predicted(tmp_path, input_fn, model)) == 2
    assert model.bytes_in_graph < 60_000
    with tf.Graph().as_default() as graph:
        input_fn()
        assert graph.as_graph_def().ByteSize() < 60_000


def test_arrays_are_read_when_the_function_is_called(tmp_path: Path) -> None:
    x = np.arange(4)
    input_fn = numpy_input_fn({"x": x}, batch_size=2, shuffle=False)
    est = lw.Estimator(Echo(), tmp_path)
    assert [row["x"] for row in est.predict(input_fn)] == [0, 1, 2, 3]
    x += 10
    rows = est.predict(input_fn)
    assert next(rows)["x"] == 10
    x += 100
    assert [row["x"] for row in rows] == [11, 12, 13], "what is written while the rows are read changes nothing"


def test_a_function_of_ones_own_works_on(tmp_path: Path) -> None:
    inner = numpy_input_fn({"x": np.arange(3.0)}, np.arange(3), batch_size=2, shuffle=False)

    def input_fn() -> Any:
        features, labels = inner()
        return {"x": features["x"] * 2, "twice": labels * 2}

    rows = list(lw.Estimator(Echo(), tmp_path).predict(input_fn))
    assert [(row["x"], row["twice"]) for row in rows] == [(0, 0), (2, 2), (4, 4)]


def test_two_of_them_in_one_input(tmp_path: Path) -> None:
    left = numpy_input_fn(np.arange(4), batch_size=2, shuffle=False)
    right = numpy_input_fn(np.arange(40, 44), batch_size=2, shuffle=False)
    rows = list(lw.Estimator(Echo(), tmp_path).predict(lambda: {"left": left(), "right": right()}))
    assert [(row["left"], row["right"]) for row in rows] == [(0, 40), (1, 41), (2, 42), (3, 43)]


def test_no_rows_are_no_batches(tmp_path: Path) -> None:
    assert predicted(tmp_path, numpy_input_fn({"x": np.zeros([0, 2])}, shuffle=False)) == []
    assert read(numpy_input_fn({"x": np.zeros([0, 2])}, num_epochs=None, shuffle=True)) == []


def test_rows_of_a_series_are_counted_not_named() -> None:
    """The original looked the numbers of rows up in the index, and failed where it had others."""
    pandas = pytest.importorskip("pandas")
    x = {"x": pandas.Series([7, 8, 9], index=[2, 0, 5])}
    assert numbers(read(numpy_input_fn(x, shuffle=False))) == [7, 8, 9]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_an_array_without_values_is_told(shape: tuple[int, ...]) -> None:
    input_fn = numpy_input_fn(np.zeros(shape), shuffle=False)
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"x cannot be an empty array, got one of shape \("):
        input_fn()
