"""Values of every form go to disk and come back: open sizes, ragged, sparse, text, types that Arrow has not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf

import lightwell as lw
from lightwell.errors import CaptureError, UsageError

FLAGS = np.array([[True, False], [False, False], [True, True], [False, True], [True, False]])
WORDS = [["a"], ["b", "ccc"], [], ["d", "ä", "f"], ["g"]]
LENGTHS = [2, 3]  # of the padded sequences in each batch


def data() -> Any:
    """A batch of three examples, and one of two."""

    def batch(start: int, count: int, length: int) -> dict[str, Any]:
        rows = np.arange(start, start + count)
        numbers = tf.cast(rows, tf.float32)
        part = slice(start, start + count)
        return {
            "number": tf.constant(rows, tf.int64),
            "half": tf.cast(numbers, tf.float16),
            "brain": tf.cast(numbers, tf.bfloat16),
            "complex": tf.complex(numbers, -numbers)[:, None] * tf.constant([[1, 2]], tf.complex64),
            "flags": tf.constant(FLAGS[part]),
            "text": tf.constant([f"ü{row}" for row in rows]),
            "bytes": tf.constant([bytes([255, row]) for row in rows]),
            "padded": tf.reshape(tf.range(count * length * 2, dtype=tf.float32), [count, length, 2]) + start,
            "ragged": tf.ragged.constant(WORDS[part], ragged_rank=1, dtype=tf.string),
            "deep": tf.ragged.constant([[[row], [row, row]] for row in rows], ragged_rank=2, dtype=tf.int32),
            "sparse": tf.sparse.from_dense(np.eye(5, 4, dtype=np.float32)[part]),
            "empty": tf.zeros([count, 0]),
        }

    batches = [batch(0, 3, LENGTHS[0]), batch(3, 2, LENGTHS[1])]
    first, second = (tf.data.Dataset.from_tensors(one) for one in batches)
    joined = first.concatenate(second)
    return joined.map(lambda one: {**one, "padded": tf.ensure_shape(one["padded"], [None, None, 2])})


def nothing(features: Any, mode: str) -> lw.EstimatorSpec:
    return lw.EstimatorSpec(mode, predictions=features["number"])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("kinds")
    return lw.Estimator(nothing, str(folder / "m")).capture(data, "features", folder / "a", shard_bytes=1)


def test_numbers(store: Any) -> None:
    np.testing.assert_array_equal(store["number"], np.arange(5))
    np.testing.assert_array_equal(store["half"], np.arange(5, dtype=np.float16))
    assert store["half"].dtype == np.float16
    np.testing.assert_array_equal(store["brain"], np.arange(5, dtype=np.float32))
    assert store["brain"].dtype == np.float32
    rows = np.arange(5)[:, None]
    np.testing.assert_array_equal(store["complex"], ((rows - 1j * rows) * [[1, 2]]).astype(np.complex64))
    np.testing.assert_array_equal(store["flags"], FLAGS)
    assert np.asarray(store["empty"]).shape == (5, 0)


def test_text_and_bytes(store: Any) -> None:
    assert np.asarray(store["text"]).tolist() == [f"ü{row}" for row in range(5)]
    assert np.asarray(store["bytes"]).tolist() == [bytes([255, row]) for row in range(5)]
    assert store.table().schema.field("features/text").type == pa.string()
    assert store.table().schema.field("features/bytes").type == pa.binary()


def test_sizes_that_differ(store: Any) -> None:
    padded = store["padded"]
    assert padded.shape == (5, None, 2)
    assert [row.shape for row in padded] == [(2, 2)] * 3 + [(3, 2)] * 2
    np.testing.assert_array_equal(padded[1], [[4, 5], [6, 7]])
    np.testing.assert_array_equal(padded[4], np.arange(6, 12).reshape(3, 2) + 3)
    assert [list(row) for row in store["ragged"]] == WORDS
    assert [len(row) for row in store["ragged"][1:4]] == [2, 0, 3]
    assert [[part.tolist() for part in row] for row in store["deep"]] == [[[row], [row, row]] for row in range(5)]
    with pytest.raises(UsageError, match="'features/ragged' holds values of different sizes, which are no array"):
        store["ragged"].chunks  # noqa: B018
    assert np.asarray(padded).dtype == object
    assert store.table(["ragged"]).column("features/ragged").to_pylist() == WORDS


def test_sparse_values(store: Any) -> None:
    dense = np.zeros([5, 4], np.float32)
    for row, value in enumerate(store["sparse"]):
        assert value.dense_shape.tolist() == [4]
        dense[row, value.indices[:, 0]] = value.values
    np.testing.assert_array_equal(dense, np.eye(5, 4))


def test_a_sample_of_every_form(store: Any, tmp_path: Path) -> None:
    made = lw.Estimator(nothing, str(tmp_path / "m")).capture(data, "features", tmp_path / "a", budget=600)
    rows = np.asarray(made.rows).tolist()
    assert 1 < len(rows) < 5
    for path in made:
        for place, row in enumerate(rows):
            np.testing.assert_equal(made[path][place], store[path][row])


def test_text_that_turns_into_bytes(tmp_path: Path) -> None:
    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices({"number": [1, 2], "s": [b"fine", b"\xff"]}).batch(1)

    est = lw.Estimator(nothing, str(tmp_path / "m"))
    with pytest.raises(CaptureError, match=r"'features/s' holds bytes that are not UTF-8 in batch 1.*text=False"):
        est.capture(input_fn, "features/s", tmp_path / "a")
    store = est.capture(input_fn, "features/s", tmp_path / "a", text=False, overwrite=True)
    assert np.asarray(store["s"]).tolist() == [b"fine", b"\xff"]
