"""`pandas_input_fn`: the batches, numbers and errors of tf.estimator 2.15, and the columns of today's pandas."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
from tests.parity import recordings
from tests.parity.row_models import RUNS
from tests.parity.row_scenes import FRAME, PANDAS, REFUSED, SERIES, outcome
from tests.run.inputs.refused import check_refusal
from tests.run.inputs.rows import Echo, predicted, read

from lightwell.compat.v1 import estimator
from lightwell.errors import InputFnError, WrongType

RECORDED = recordings.load_json("rows")
pandas_input_fn = estimator.inputs.pandas_input_fn
OURS = [name for name in REFUSED if name.startswith("pandas")]


def test_every_scene_is_recorded() -> None:
    assert list(PANDAS) == list(RECORDED["pandas"])


@pytest.mark.parametrize("name", PANDAS)
def test_batches_are_those_of_the_original(name: str) -> None:
    assert json.loads(json.dumps(outcome(PANDAS[name], estimator.inputs))) == RECORDED["pandas"][name]


@pytest.mark.parametrize("name", OURS)
def test_refusals_keep_the_words_of_the_original(name: str) -> None:
    check_refusal(*REFUSED[name], RECORDED["refused"][name])


def test_a_model_learns_the_same_numbers(tmp_path: Path) -> None:
    made, expected = RUNS["a frame"](estimator, tmp_path), RECORDED["runs"]["a frame"]
    np.testing.assert_allclose(made["losses"], expected["losses"], **recordings.CLOSE)
    np.testing.assert_allclose(made["predicted"], expected["predicted"], **recordings.CLOSE)
    assert made["evaluated"] == pytest.approx(expected["evaluated"], rel=1e-4)


def test_the_frames_are_left_as_they_are(tmp_path: Path) -> None:
    frame, labels = FRAME.copy(), SERIES.copy()
    input_fn = pandas_input_fn(frame, labels, shuffle=True)
    predicted(tmp_path, lambda: input_fn()[0])
    pd.testing.assert_frame_equal(frame, FRAME)
    pd.testing.assert_series_equal(labels, SERIES)


@pytest.mark.parametrize(
    ("column", "dtype", "rows"),
    [
        (pd.Series(["x", "é"]), tf.string, [b"x", "é".encode()]),
        (pd.Series(["x", "y"], dtype="string"), tf.string, [b"x", b"y"]),
        (pd.Series(["x", "y"], dtype=object), tf.string, [b"x", b"y"]),
        (pd.Series(["x", "y"], dtype="category"), tf.string, [b"x", b"y"]),
        (pd.Series([4, 3], dtype="category"), tf.int64, [4, 3]),
        (pd.Series([4, 3], dtype="Int64"), tf.int64, [4, 3]),
        (pd.Series([0.5, 2], dtype="Float32"), tf.float32, [0.5, 2.0]),
        (pd.Series([True, False], dtype="boolean"), tf.bool, [True, False]),
    ],
    ids="text string object words numbers Int64 Float32 boolean".split(),
)
def test_columns_of_pandas_own_types(column: Any, dtype: Any, rows: list[Any]) -> None:
    """The original knew NumPy's only: text is of a type of its own since pandas 3."""
    input_fn = pandas_input_fn(pd.DataFrame({"x": column}), shuffle=False)
    with tf.Graph().as_default():
        assert input_fn()["x"].dtype == dtype
    assert read(input_fn)[0]["x"].tolist() == rows


@pytest.mark.parametrize("dtype", ["str", object, "category"])
def test_what_is_missing_in_text_is_pointed_out(dtype: Any) -> None:
    input_fn = pandas_input_fn(pd.DataFrame({"city": pd.Series(["x", None, "y"], dtype=dtype)}), shuffle=False)
    with pytest.raises(WrongType, match=r"pandas_input_fn: x\['city'\] .* row 1 holds .*\.fillna\(''\)"):
        read(input_fn)


def test_columns_of_the_same_name() -> None:
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(InputFnError, match=r"pandas_input_fn: x has columns of the same name: \['a'\]\. .* rename one"):
        pandas_input_fn(twice, shuffle=False)
    with pytest.raises(InputFnError, match="pandas_input_fn: y has columns of the same name"):
        pandas_input_fn(pd.DataFrame({"x": [1]}), twice, shuffle=False)


def test_a_frame_without_columns() -> None:
    with pytest.raises(InputFnError, match=r"pandas_input_fn: x has no columns\. Pass"):
        pandas_input_fn(FRAME[[]], shuffle=False)
    with pytest.raises(InputFnError, match=r"pandas_input_fn: y has no columns\. Pass"):
        pandas_input_fn(FRAME, FRAME[[]], shuffle=False)


def test_a_series_of_features_is_told_how_to_become_a_frame() -> None:
    with pytest.raises(TypeError, match=r"x must be a pandas DataFrame; got Series.*to_frame\(name\)"):
        pandas_input_fn(SERIES, shuffle=False)


def test_any_index_will_do(tmp_path: Path) -> None:
    """The original had it in its queue, and failed for times and for text."""
    for index in (pd.to_datetime(["2020-01-01", "2020-01-02"]), ["p", "q"]):
        frame = pd.DataFrame({"x": [1, 2]}, index=index)
        assert read(pandas_input_fn(frame, frame["x"], shuffle=False))[0][1].tolist() == [1, 2]


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(TypeError, match="pandas_input_fn should not be called without pandas installed: pip install"):
        pandas_input_fn(FRAME, shuffle=False)


def test_the_graph_does_not_hold_the_frame(tmp_path: Path) -> None:
    frame, model = pd.DataFrame(np.zeros([50_000, 20]), columns=list("abcdefghijklmnopqrst")), Echo()
    assert len(predicted(tmp_path, pandas_input_fn(frame, batch_size=25_000, shuffle=False), model)) == 2
    assert model.bytes_in_graph < 500_000


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_queue_without_a_size_takes_all_rows(shuffle: bool) -> None:
    frame = pd.DataFrame({"a": [1, 2, 3]})
    batches = read(pandas_input_fn(frame, batch_size=2, shuffle=shuffle, queue_capacity=None))
    assert sorted(value for batch in batches for value in batch["a"]) == [1, 2, 3]
