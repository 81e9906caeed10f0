"""Reading a capture: arrays, tables, frames, other programs; as the input of another model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import tensorflow as tf
from tests.inside.captures import models

import lightwell as lw
from lightwell.errors import CaptureError, PathError, UsageError

TAPS = ["layers/conv2d", "layers/dense", "labels", "predictions/probabilities"]


@pytest.fixture(scope="module")
def est(tmp_path_factory: pytest.TempPathFactory) -> lw.Estimator:
    return models.trained(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def store(est: lw.Estimator, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return est.capture(models.data, TAPS, tmp_path_factory.mktemp("acts") / "a", key="id", shard_bytes=6_000)


@pytest.fixture(scope="module")
def older(est: lw.Estimator, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same of an older checkpoint, and of fewer examples in another order."""

    def backwards() -> Any:
        features = {"x": models.X[59::-1], "id": models.IDS[59::-1]}
        return tf.data.Dataset.from_tensor_slices((features, models.Y[59::-1])).batch(7)

    return est.capture(
        backwards,
        TAPS,
        tmp_path_factory.mktemp("acts") / "b",
        key="id",
        checkpoint_path=f"{est.model_dir}/model.ckpt-10",
    )


def test_a_column_is_an_array(store: Any) -> None:
    column = store["layers/conv2d"]
    all_of_it = np.asarray(column)
    assert column.shape == all_of_it.shape == (models.COUNT, 4, 4, 2)
    assert (column.dtype, column.ndim, len(column)) == (np.float32, 4, models.COUNT)
    assert len(column.chunks) > 2
    for index in (3, -1, slice(10, 90), slice(5, 8), slice(None, None, 7), slice(80, 20, -9), [5, 99, 0, -1], ...):
        np.testing.assert_array_equal(column[index], all_of_it[index])
    np.testing.assert_array_equal(column[10:90, 1, :, 0], all_of_it[10:90, 1, :, 0])
    np.testing.assert_array_equal(column[4, 0], all_of_it[4, 0])
    mask = np.asarray(store["labels"]) == 2
    np.testing.assert_array_equal(column[mask], all_of_it[mask])
    np.testing.assert_array_equal(np.stack(list(column)), all_of_it)
    np.testing.assert_array_equal(np.asarray(column, np.float64), all_of_it.astype(np.float64))
    with pytest.raises(IndexError, match="has 100 rows, and row 100"):
        column[100]


def test_slices_are_views_of_the_files(store: Any) -> None:
    column = store["layers/conv2d"]
    inside = column[2:10]
    assert np.shares_memory(inside, column.chunks[0])
    assert not inside.flags.owndata
    assert not inside.flags.writeable
    assert np.asarray(lw.open_capture(store.path)["labels"][:8]).tolist() == models.Y[:8].tolist()


def test_paths_may_be_short_and_wrong_ones_are_told(store: Any) -> None:
    np.testing.assert_array_equal(store["dense"], store["layers/dense"])
    assert "layers/dense" in store
    assert list(store) == [*TAPS, "features/id"]
    with pytest.raises(PathError, match="has no 'layers/dens'; it has 'layers/dense'"):
        store["layers/dens"]
    with pytest.raises(CaptureError, match=r"does not exist; expected a folder that est.capture"):
        lw.open_capture("nowhere")


def test_tables_and_frames(store: Any) -> None:
    table = store.table()
    assert table.column_names == ["row", *TAPS, "features/id"]
    assert table.schema.field("layers/conv2d").type == pa.fixed_shape_tensor(pa.float32(), [4, 4, 2])
    assert table.schema.field("layers/dense").type == pa.list_(pa.float32(), 5)
    assert table.schema.field("features/id").type == pa.string()
    frame = store.to_pandas()
    assert frame.index.tolist() == models.IDS.tolist()
    np.testing.assert_array_equal(np.stack(frame["layers/conv2d"]), store["layers/conv2d"])
    np.testing.assert_array_equal(frame["labels"], models.Y)
    assert store.to_pandas(["labels"]).columns.tolist() == ["row", "labels"]


def test_others_read_the_files_without_lightwell(store: Any) -> None:
    shards = sorted(Path(store.path).glob("*.arrow"))
    one = pa.ipc.open_file(pa.memory_map(str(shards[0]))).read_all()
    frame = one.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    np.testing.assert_array_equal(np.stack(frame["layers/dense"]), store["layers/dense"][: len(frame)])
    kept = store.table()
    assert kept.num_rows == models.COUNT
    answer = duckdb.sql(
        'select labels, count(*) as n, avg("layers/dense"[1]) as first, max("layers/conv2d"[32]) as last '
        "from kept group by labels order by labels"
    ).fetchall()
    for label, count, first, last in answer:
        mine = label == models.Y
        assert count == mine.sum()
        assert first == pytest.approx(np.asarray(store["layers/dense"])[mine, 0].mean(), rel=1e-5)
        assert last == pytest.approx(np.asarray(store["layers/conv2d"])[mine, 3, 3, 1].max())


def test_statistics(store: Any) -> None:
    values = np.asarray(store["layers/conv2d"], np.float64)
    found = store.stats("layers/conv2d")
    assert found.count == models.COUNT
    np.testing.assert_allclose(found.mean, values.mean(0), rtol=1e-12)
    np.testing.assert_allclose(found.std, values.std(0), rtol=1e-9)
    np.testing.assert_array_equal(found.zeros, (values == 0).mean(0))
    assert set(store.stats()) == set(TAPS)
    with pytest.raises(UsageError, match="'features/id' holds object; statistics need numbers"):
        store.stats("features/id")


def test_top_examples_of_a_unit(store: Any) -> None:
    values = np.asarray(store["layers/conv2d"])
    best = store.top("layers/conv2d", 1, k=4)
    expected = np.argsort(-values[..., 1].reshape(100, -1).max(1), kind="stable")[:4]
    np.testing.assert_array_equal(best.rows, expected)
    assert best.keys.tolist() == models.IDS[expected].tolist()
    assert str(best).splitlines()[0] == "layers/conv2d, unit 1"
    assert models.IDS[expected[0]] in best._repr_html_()
    by_mean = store.top("layers/conv2d", 1, k=4, by="mean")
    np.testing.assert_allclose(by_mean.values, np.sort(values[..., 1].reshape(100, -1).mean(1))[::-1][:4], rtol=1e-6)
    np.testing.assert_array_equal(store.top("conv2d", (1, 2, 0), k=3).values, np.sort(values[:, 1, 2, 0])[::-1][:3])
    assert len(store.top("dense", k=200)) == 100
    with pytest.raises(UsageError, match=r"'layers/conv2d' has no unit 2; its values are 4×4×2"):
        store.top("conv2d", 2)
    with pytest.raises(UsageError, match="holds object, and the largest of them is asked for"):
        store.top("features/id")


def test_captures_join_by_key(store: Any, older: Any, est: lw.Estimator, tmp_path: Path) -> None:
    both = store.join(older)
    assert len(both) == 60
    assert both.keys.tolist() == models.IDS[:60].tolist()
    one, other = both["layers/dense"]
    np.testing.assert_array_equal(one, store["layers/dense"][:60])
    np.testing.assert_array_equal(other, older["layers/dense"][::-1])
    assert "40 without a match" in repr(both)
    table = both.table()
    assert "layers/dense (2)" in table.column_names
    assert table.column("features/id").to_pylist() == models.IDS[:60].tolist()
    with pytest.raises(UsageError, match="was captured without a key"):
        store.join(est.capture(models.data, "layers/dense", tmp_path / "c", steps=1))


def test_a_probe_is_trained_on_it(store: Any, tmp_path: Path) -> None:
    def probe(features: Any, labels: Any, mode: str) -> Any:
        logits = lw.layers.dense(features["h"], 3)
        loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
        train = tf.compat.v1.train.AdamOptimizer(0.05).minimize(loss, tf.compat.v1.train.get_global_step())
        seen = {"rows": tf.compat.v1.metrics.true_positives(tf.ones_like(labels), tf.ones_like(labels))}
        return lw.EstimatorSpec(mode, {"logits": logits}, loss, train, seen)

    made = lw.Estimator(probe, str(tmp_path))
    before = made.train(store.input_fn({"h": "layers/dense"}, "labels"), steps=1).evaluate(
        store.input_fn({"h": "dense"}, "labels", batch_size=30)
    )
    assert before["rows"] == models.COUNT
    made.train(lambda: store.dataset({"h": "dense"}, "labels", 32, shuffle=5, repeat=True), steps=150)
    assert made.evaluate(store.input_fn({"h": "dense"}, "labels"))["loss"] < before["loss"]


def test_rows_in_eager_code(store: Any) -> None:
    batches = list(store.dataset("layers/dense", batch_size=32))
    assert [len(batch) for batch in batches] == [32, 32, 32, 4]
    np.testing.assert_array_equal(np.concatenate(batches), store["layers/dense"])
    mixed = np.concatenate(list(store.dataset("features/id", batch_size=32, shuffle=1)))
    assert mixed.tolist() != models.IDS.tolist()
    assert sorted(one.decode() for one in mixed) == models.IDS.tolist()
    with pytest.raises(UsageError, match="batch_size must be a whole number"):
        store.dataset("layers/dense", batch_size=0)
    with pytest.raises(UsageError, match="features must be a path, a list of paths, or a dict"):
        store.dataset(3)


def test_all_columns_are_the_default(store: Any) -> None:
    (batch,) = store.dataset(batch_size=models.COUNT)
    assert sorted(batch) == sorted(store.paths)
    np.testing.assert_array_equal(batch["layers/dense"], store["layers/dense"])
    features, labels = next(iter(store.dataset(labels="labels", batch_size=8)))
    assert sorted([*features, "labels"]) == sorted(store.paths)
    np.testing.assert_array_equal(labels, store["labels"][:8])


def test_it_shows_itself(store: Any) -> None:
    text = str(store)
    assert "100 rows, of model.ckpt-20" in text
    line = next(line for line in text.splitlines() if line.startswith("layers/conv2d"))
    assert line.split() == ["layers/conv2d", "float32", "4×4×2"]
    assert all(len(line) <= 120 for line in text.splitlines())
    assert "<td" in store._repr_html_()
    assert store.to_dict()["rows"] == models.COUNT
    assert repr(store).startswith("Capture(")
