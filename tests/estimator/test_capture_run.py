"""Captures: what is on disk is what the model computes, whatever happened on the way; and what is refused."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf
from tests.conftest import LogLines
from tests.inside.captures import models

import lightwell as lw
from lightwell.errors import CaptureError, PathError, UsageError

TAPS = ["layers/*", "labels", "predictions/class"]


@pytest.fixture(scope="module")
def est(tmp_path_factory: pytest.TempPathFactory) -> lw.Estimator:
    return models.trained(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def rows(est: lw.Estimator) -> dict[str, Any]:
    """What `predict` gives."""
    found = list(est.predict(models.data, taps=["layers/*"]))
    return {path: np.stack([row[path] for row in found]) for path in found[0]}


@pytest.fixture(scope="module")
def whole(est: lw.Estimator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture of several shards."""
    folder = tmp_path_factory.mktemp("acts") / "whole"
    est.capture(models.data, TAPS, folder, key="id", shard_bytes=10_000)
    return folder


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def again(est: lw.Estimator, folder: Path, **changes: Any) -> Any:
    settings: dict[str, Any] = {"key": "id", "shard_bytes": 10_000, **changes}
    input_fn = settings.pop("input_fn", models.data)
    return est.capture(input_fn, settings.pop("taps", TAPS), folder, **settings)


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_rows_are_what_predict_gives(whole: Path, rows: dict[str, Any]) -> None:
    store = lw.open_capture(whole)
    assert len(list(whole.glob("*.arrow"))) == 4
    for path in ("layers/conv2d", "layers/flatten", "layers/dense", "layers/logits"):
        np.testing.assert_array_equal(np.asarray(store[path]), rows[path])
    np.testing.assert_array_equal(store["predictions/class"], rows["class"])
    np.testing.assert_array_equal(store["labels"], models.Y)
    np.testing.assert_array_equal(np.asarray(store["features/id"]).astype(str), models.IDS)
    np.testing.assert_array_equal(store.rows, np.arange(models.COUNT))
    store.verify()


def test_under_edits_it_keeps_what_comes_of_them(est: lw.Estimator, tmp_path: Path, rows: dict[str, Any]) -> None:
    edits = [lw.zero("layers/conv2d", channel=0)]
    store = again(est, tmp_path / "a", edits=edits)
    expected = [row["layers/dense"] for row in est.predict(models.data, taps=["layers/dense"], edits=edits)]
    np.testing.assert_array_equal(store["layers/dense"], expected)
    assert not np.array_equal(expected, rows["layers/dense"])
    for other in ([lw.zero("layers/conv2d", channel=1)], None):
        with pytest.raises(UsageError, match="another capture"):
            again(est, tmp_path / "a", edits=other)


def test_without_labels_it_needs_none(est: lw.Estimator, tmp_path: Path, rows: dict[str, Any]) -> None:
    store = est.capture(lambda: models.data().map(lambda x, y: x), "layers/dense", tmp_path / "a", steps=2)
    np.testing.assert_array_equal(store["dense"], rows["layers/dense"][:16])
    assert store.paths == ["layers/dense"]


def test_an_early_layer_does_without_the_rest(est: lw.Estimator, tmp_path: Path) -> None:
    def fails_late(features: Any, labels: Any, mode: str) -> Any:
        spec = models.pictures(features, labels, mode)
        with tf.control_dependencies([tf.debugging.Assert(False, ["computed"])]):
            return spec._replace(predictions={"class": tf.identity(spec.predictions["class"])})

    other = lw.Estimator(fails_late, est.model_dir)
    assert len(other.capture(models.data, "layers/conv2d", tmp_path / "a")) == models.COUNT
    with pytest.raises(tf.errors.InvalidArgumentError, match="computed"):
        list(other.predict(models.data))


def test_steps_one_by_one_give_the_same(est: lw.Estimator, whole: Path, tmp_path: Path) -> None:
    single = lw.Estimator(models.pictures, config=lw.RunConfig(est.model_dir, tf_random_seed=1, fuse_steps=None))
    again(single, tmp_path / "a")
    assert files(tmp_path / "a") == files(whole)


@pytest.mark.parametrize("damage", ["torn and cut", "gone"])
def test_a_damaged_shard_is_written_again(
    est: lw.Estimator, whole: Path, copy: Path, damage: str, log: LogLines
) -> None:
    if damage == "gone":
        bad = ["shard-00000.arrow"]
        (copy / bad[0]).unlink()
    else:
        bad = ["shard-00001.arrow", "shard-00003.arrow"]  # inside, and at the end
        torn, cut = ((copy / name).read_bytes() for name in bad)
        (copy / bad[0]).write_bytes(torn[:600] + b"\1\2" + torn[602:])
        (copy / bad[1]).write_bytes(cut[:-100])
    with pytest.raises(CaptureError, match=rf"{bad[0]}.*is not as it was written"):
        lw.open_capture(copy).verify()
    again(est, copy)
    for name in bad:
        assert log.having(f"{name} is damaged or gone, and is written again")
    assert files(copy) == files(whole)


def test_it_goes_on_where_it_was_broken_off(est: lw.Estimator, whole: Path, tmp_path: Path) -> None:
    class Stumbles(lw.ScheduledHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            if run_context.count == 9:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        again(est, tmp_path / "a", hooks=[Stumbles()])
    begun = lw.open_capture(tmp_path / "a")
    assert not begun.is_complete
    assert len(begun) < 72
    assert "not complete" in str(begun)
    kept = {name: content for name, content in files(tmp_path / "a").items() if name.endswith(".arrow")}
    again(est, tmp_path / "a")
    assert files(tmp_path / "a") == files(whole)
    assert kept.items() <= files(tmp_path / "a").items()


def test_a_big_shard_is_written_piece_by_piece(est: lw.Estimator, tmp_path: Path) -> None:
    big = np.random.default_rng(5).random((9_000, 1_024), np.float32)

    def input_fn() -> Any:
        features = {"x": np.zeros([9_000, 6, 6, 1], np.float32), "big": big}
        return tf.data.Dataset.from_tensor_slices(features).batch(500)

    def captured() -> Any:
        return est.capture(input_fn, "features/big", tmp_path / "a", shard_bytes="20MB")

    store = captured()
    chunks = [len(chunk) for chunk in store["big"].chunks]
    assert sum(chunks) == 9_000
    assert max(chunks) * big[0].nbytes < 20e6  # none is a whole shard
    for start in (0, chunks[0] - 100, 4_900, 8_900):
        np.testing.assert_array_equal(store["big"][start : start + 300], big[start : start + 300])
    before = files(tmp_path / "a")
    with pa.memory_map(str(tmp_path / "a" / "shard-00000.arrow")) as source:
        assert 1 < pa.ipc.open_file(source).num_record_batches < len(chunks)
    (tmp_path / "a" / "shard-00001.arrow").unlink()  # it goes on behind the pieces of the first
    captured().verify()
    assert files(tmp_path / "a") == before


def test_a_complete_one_is_opened_as_it_is(est: lw.Estimator, whole: Path, log: LogLines) -> None:
    before = {file: file.stat().st_mtime_ns for file in whole.iterdir()}
    assert len(again(est, whole)) == models.COUNT
    assert {file: file.stat().st_mtime_ns for file in whole.iterdir()} == before
    assert log.having("is complete already, with 100 rows")


def test_tensors_in_place_of_a_dataset_go_on_too(est: lw.Estimator, tmp_path: Path) -> None:
    def own_iterator() -> Any:
        return tf.compat.v1.data.make_one_shot_iterator(models.data()).get_next()

    def broken(count: int) -> list[Any]:
        class Stumbles(lw.ScheduledHook):
            def after_run(self, run_context: Any, run_values: Any) -> None:
                if run_context.count == count:
                    raise KeyboardInterrupt

        return [Stumbles()]

    with pytest.raises(KeyboardInterrupt):
        again(est, tmp_path / "a", input_fn=own_iterator, hooks=broken(9))
    assert len(again(est, tmp_path / "a", input_fn=own_iterator)) == models.COUNT
    again(est, tmp_path / "b", input_fn=own_iterator)
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_a_sample_fits_into_the_budget(est: lw.Estimator, tmp_path: Path, rows: dict[str, Any], log: LogLines) -> None:
    store = again(est, tmp_path / "a", budget="9KB")
    assert log.having("one example of 4 is kept, at most 26 rows")
    np.testing.assert_array_equal(store.rows, np.arange(0, models.COUNT, 4))
    np.testing.assert_array_equal(store["layers/conv2d"], rows["layers/conv2d"][::4])
    np.testing.assert_array_equal(np.asarray(store.keys).astype(str), models.IDS[::4])
    assert sum(file.stat().st_size for file in tmp_path.rglob("*.arrow")) < 12_000
    assert "one example of 4" in str(store)
    assert len(again(est, tmp_path / "a", budget="9KB")) == 25


def test_statistics_fit_into_any_budget(est: lw.Estimator, tmp_path: Path, whole: Path, log: LogLines) -> None:
    store = again(est, tmp_path / "a", budget="12KB", beyond="statistics")
    assert log.having("statistics over all examples are kept, and no rows")
    found, full = store.stats("layers/conv2d"), lw.open_capture(whole).stats("layers/conv2d")
    assert found.count == models.COUNT
    for name in ("mean", "std", "min", "max", "zeros"):
        np.testing.assert_allclose(getattr(found, name), getattr(full, name), rtol=1e-6, atol=1e-9)
    with pytest.raises(UsageError, match=r"holds statistics and no rows.*larger budget"):
        store["layers/conv2d"]
    assert "Rows are not kept: all of it would take" in str(store)


def test_an_input_of_unknown_length_ends_with_the_budget(est: lw.Estimator, tmp_path: Path, log: LogLines) -> None:
    store = again(est, tmp_path / "a", budget="20KB", input_fn=lambda: models.data().filter(lambda x, y: True))
    assert len(store) == 56
    assert "the first examples only: the budget of 20.0 KB was used up" in str(store)
    assert len(log.having("was used up, and the input is of unknown length; the first 56 examples are kept.")) == 1
    assert len(log.having("was used up")) == 1


def test_key_is_checked(est: lw.Estimator, tmp_path: Path) -> None:
    def doubled() -> Any:
        ids = models.IDS.copy()
        ids[70] = ids[3]
        features = {"x": models.X, "id": ids, "n": models.Y, "age": models.X[:, 0, 0, 0]}
        return tf.data.Dataset.from_tensor_slices((features, models.Y)).batch(models.BATCH)

    with pytest.raises(
        UsageError, match=r"key='features/id' does not identify an example: 'id003'.* 2 rows.*\[3, 70\]"
    ):
        again(est, tmp_path / "a", input_fn=doubled)
    assert len(again(est, tmp_path / "a", input_fn=doubled, key=None, taps=[*TAPS, "features/id"])) == models.COUNT
    with pytest.raises(UsageError, match=r"key='features/n' does not identify an example: 0 is the key of 34 rows"):
        again(est, tmp_path / "b", input_fn=doubled, key="n")
    with pytest.raises(PathError, match=r"features/ident.*features/id"):
        again(est, tmp_path / "c", key="ident")
    with pytest.raises(
        UsageError, match="key='features/x' holds float32 6×6×1; expected one whole number or one string"
    ):
        again(est, tmp_path / "d", key="x")
    with pytest.raises(UsageError, match="key='features/age' holds float32 numbers; expected one whole number"):
        again(est, tmp_path / "e", input_fn=doubled, key="age")


@pytest.mark.parametrize(
    ("taps", "text"),
    [
        ("layers/convolution", r"capture\(taps=...\).*layers/conv2d"),
        (["loss", "labels"], "'loss' has no row for each example.*evaluate"),
        (["weights/dense/kernel"], "'weights/dense/kernel' has no row for each example.*evaluate"),
        (["gradients/layers/dense"], "is a gradient of the mean loss of a batch.*Watch in training"),
        ([lw.stats("layers/*")], r"stats\(...\) is a few numbers for a whole batch.*store.stats"),
        ([], "nothing to keep"),
    ],
)
def test_taps_that_are_refused(est: lw.Estimator, tmp_path: Path, taps: Any, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        est.capture(models.data, taps, tmp_path / "a")
    assert not list(tmp_path.rglob("*.arrow"))


def test_another_capture_is_not_mixed_in(est: lw.Estimator, copy: Path, tmp_path: Path) -> None:
    before = files(copy)
    with pytest.raises(
        UsageError, match=r"another capture: of the checkpoint model.ckpt-20, and now it is model.ckpt-10"
    ):
        again(est, copy, checkpoint_path=os.path.join(est.model_dir, "model.ckpt-10"))
    with pytest.raises(
        UsageError, match=r"of \['layers/conv2d'.*and now \['layers/dense', 'features/id'\] are asked for. Name"
    ):
        again(est, copy, taps=["layers/dense"])
    with pytest.raises(UsageError, match="another capture: of another input"):
        again(est, copy, input_fn=lambda: models.data().take(5))
    with pytest.raises(UsageError, match=r"with other settings: shard_bytes=10000.*shard_bytes=5000"):
        again(est, copy, shard_bytes="5KB")
    assert files(copy) == before
    assert len(again(est, copy, taps=["layers/dense"], overwrite=True)) == models.COUNT
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"holds 1 files and no capture \(\['thesis.txt'\]\)"):
        again(est, tmp_path / "full", overwrite=True)
    with pytest.raises(UsageError, match="not on a local disk"):
        est.capture(models.data, TAPS, "gs://bucket/acts")


def test_other_arrays_are_another_input(est: lw.Estimator, copy: Path) -> None:
    changed = models.X.copy()
    changed[99] += 1

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices(({"x": changed, "id": models.IDS}, models.Y)).batch(models.BATCH)

    with pytest.raises(UsageError, match="another capture: of other data"):
        again(est, copy, input_fn=input_fn)


def test_an_input_in_another_order_is_refused(est: lw.Estimator, tmp_path: Path) -> None:
    unseeded = lw.Estimator(models.pictures, est.model_dir)

    def shuffled() -> Any:
        return models.data().unbatch().shuffle(100).batch(models.BATCH)

    again(unseeded, tmp_path / "a", input_fn=shuffled)
    with pytest.raises(CaptureError, match=r"was begun with other rows.*'features/id' is another.*seed its shuffling"):
        again(unseeded, tmp_path / "a", input_fn=shuffled)


def test_an_input_that_changed_behind_its_back_is_refused(est: lw.Estimator, tmp_path: Path) -> None:
    shift = [0]

    def generated() -> Iterator[Any]:
        for start in range(0, models.COUNT, models.BATCH):
            part = slice(start, start + models.BATCH)
            yield models.X[part] + shift[0], models.Y[part]

    def input_fn() -> Any:
        signature = (tf.TensorSpec([None, 6, 6, 1], tf.float32), tf.TensorSpec([None], tf.int32))
        made = tf.data.Dataset.from_generator(generated, output_signature=signature)
        return made.map(lambda x, y: ({"x": x}, y))

    taps = ["features/x", "layers/dense"]
    est.capture(input_fn, taps, tmp_path / "a", shard_bytes=5_000)
    assert len(est.capture(input_fn, taps, tmp_path / "a", shard_bytes=5_000)) == models.COUNT
    shift[0] = 1
    with pytest.raises(CaptureError, match=r"was begun with other rows.*'features/x' is another from example 0"):
        est.capture(input_fn, taps, tmp_path / "a", shard_bytes=5_000)


def test_an_input_without_an_end_needs_steps(est: lw.Estimator, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the input has no end.*steps=100"):
        again(est, tmp_path / "a", input_fn=lambda: models.data().repeat())
    assert len(again(est, tmp_path / "a", input_fn=lambda: models.data().repeat(), steps=3)) == 24


def test_a_full_disk(est: lw.Estimator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: full)
    with pytest.raises(CaptureError, match=r"needs about 33.6 KB \(104 rows of .*1.0 KB are free.*budget=") as early:
        again(est, tmp_path / "a")
    assert early.value.errno == 28
    monkeypatch.undo()
    real = os.replace

    def replace(source: str, target: str) -> None:
        if target.endswith("shard-00002.arrow"):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(CaptureError, match=r"cannot be written: No space left on device.*make room and call") as late:
        again(est, tmp_path / "a")
    assert late.value.errno == 28
    monkeypatch.undo()
    assert 0 < len(lw.open_capture(tmp_path / "a")) < models.COUNT
    assert len(again(est, tmp_path / "a")) == models.COUNT


def test_two_at_once_are_kept_apart(est: lw.Estimator, tmp_path: Path) -> None:
    class Meddles(lw.ScheduledHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            again(est, tmp_path / "a")

    with pytest.raises(UsageError, match="another process is capturing to"):
        again(est, tmp_path / "a", hooks=[Meddles()])


def test_a_value_without_rows_for_examples(tmp_path: Path) -> None:
    def time_first(features: Any, mode: str) -> Any:
        net = lw.layers.dense(tf.transpose(features["x"], [1, 0, 2]), 2)
        return lw.EstimatorSpec(mode, predictions=tf.reduce_sum(net, 0))

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensors({"x": np.zeros([7, 4, 3], np.float32)})

    with pytest.raises(
        UsageError, match=r"'layers/dense' is not made of one row for each example.*7 examples.*\[4, 7, 2\]"
    ):
        lw.Estimator(time_first, str(tmp_path / "m")).capture(input_fn, "layers/dense", tmp_path / "a")


def test_nothing_but_arrow_and_json_is_on_disk(whole: Path) -> None:
    manifest = json.loads((whole / "capture.json").read_text())
    assert {file.name for file in whole.iterdir()} == {"capture.json", *(one["file"] for one in manifest["shards"])}
    assert sum(one["rows"] for one in manifest["shards"]) == models.COUNT
    for one in manifest["shards"]:
        with pa.memory_map(str(whole / one["file"])) as source:
            assert pa.ipc.open_file(source).num_record_batches == 1
    assert manifest["global_step"] == 20
