"""The folder of a capture: what is there makes way only for something new; other formats are refused."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.inside.captures import models

import lightwell as lw
from lightwell.errors import CaptureError, PathError, UsageError


@pytest.fixture(scope="module")
def est(tmp_path_factory: pytest.TempPathFactory) -> lw.Estimator:
    return models.trained(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def whole(est: lw.Estimator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture of several shards."""
    folder = tmp_path_factory.mktemp("acts") / "whole"
    capture(est, folder)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def capture(est: lw.Estimator, folder: Path, taps: Any = "layers/*", **more: Any) -> Any:
    return est.capture(more.pop("input_fn", models.data), taps, folder, shard_bytes=10_000, **more)


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def has_free(monkeypatch: pytest.MonkeyPatch, folder: Path, free: int) -> None:
    told = shutil.disk_usage(folder)._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: told)


def test_what_is_to_be_replaced_stays_until_there_are_rows(
    est: lw.Estimator, folder: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks() -> Any:
        raise RuntimeError("no data")

    def fails() -> Any:
        return models.data().map(lambda x, y: ({**x, "x": tf.debugging.check_numerics(x["x"] / 0.0, "torn")}, y))

    with pytest.raises(PathError, match="layers/conv2x"):
        capture(est, folder, "layers/conv2x", overwrite=True)
    with pytest.raises(RuntimeError, match="no data"):
        capture(est, folder, input_fn=breaks, overwrite=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="torn"):
        capture(est, folder, input_fn=fails, overwrite=True)
    with pytest.raises(UsageError, match="has no end"):
        capture(est, folder, input_fn=lambda: models.data().repeat(), overwrite=True)
    with monkeypatch.context() as full:
        has_free(full, folder, 0)
        with pytest.raises(CaptureError, match="are free on its disk"):
            capture(est, folder, ["layers/*", "features/x"], overwrite=True)
    assert files(folder) == files(whole)


def test_room_is_counted_with_what_makes_way(
    est: lw.Estimator, folder: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_free(monkeypatch, folder, 4000)
    assert len(capture(est, folder, overwrite=True)) == models.COUNT
    assert files(folder) == files(whole)


def test_who_reads_the_old_one_reads_on(est: lw.Estimator, folder: Path) -> None:
    old = lw.open_capture(folder)["layers/dense"]
    before = np.array(old)
    capture(est, folder, overwrite=True, edits=[lw.zero("layers/dense")])
    assert not np.any(lw.open_capture(folder)["layers/dense"])
    np.testing.assert_array_equal(old, before)


@pytest.mark.parametrize("rows", ["all", "none", "statistics"])
def test_nothing_of_the_old_one_is_left(est: lw.Estimator, folder: Path, tmp_path: Path, rows: str) -> None:
    more: dict[str, Any] = {
        "all": {"taps": "layers/dense"},
        "none": {"input_fn": lambda: models.data().take(0)},
        "statistics": {"budget": 1000, "beyond": "statistics"},
    }[rows]
    capture(est, folder, overwrite=True, **more)
    capture(est, tmp_path / "new", **more)
    assert files(folder) == files(tmp_path / "new")


def test_what_a_kill_left_of_an_old_one_makes_way_too(est: lw.Estimator, folder: Path, whole: Path) -> None:
    (folder / "capture.json").unlink()
    with pytest.raises(UsageError, match="holds 3 files and no capture"):
        capture(est, folder)
    capture(est, folder, overwrite=True)
    assert files(folder) == files(whole)


def test_what_cannot_be_removed_is_told(est: lw.Estimator, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    removed = os.remove

    def remove(path: Any) -> None:
        if str(path).endswith("capture.json"):
            raise PermissionError(13, "Permission denied")
        removed(path)

    monkeypatch.setattr(os, "remove", remove)
    before = files(folder)
    with pytest.raises(CaptureError, match=r"capture\.json cannot be removed .*: Permission denied\. Make the folder"):
        capture(est, folder, overwrite=True)
    assert files(folder) == before


def test_texts_that_are_cut_elsewhere_are_other_data(est: lw.Estimator, tmp_path: Path) -> None:
    first, second = np.array([b"a\0b", b"c"], object), np.array([b"a", b"b\0c"], object)

    def data(texts: Any) -> Any:
        return lambda: tf.data.Dataset.from_tensor_slices({"x": models.X[:2], "id": texts}).batch(2)

    capture(est, tmp_path / "a", input_fn=data(first))
    assert len(capture(est, tmp_path / "a", input_fn=data(first))) == 2
    with pytest.raises(UsageError, match="of other data"):
        capture(est, tmp_path / "a", input_fn=data(second))


@pytest.mark.parametrize(
    ("form", "message"),
    [(2, r"has the format 2, .* reads the format 4 alone\. Capture again"), (99, "a later Lightwell")],
)
def test_another_format_is_refused_by_its_number(est: lw.Estimator, folder: Path, form: int, message: str) -> None:
    manifest = json.loads((folder / "capture.json").read_text())
    manifest["format"] = form
    (folder / "capture.json").write_text(json.dumps(manifest))
    with pytest.raises(CaptureError, match=message):
        lw.open_capture(folder)
    with pytest.raises(CaptureError, match=message):
        capture(est, folder)
    assert len(capture(est, folder, overwrite=True)) == models.COUNT


def test_a_file_in_the_place_of_the_folder_is_told(est: lw.Estimator, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "acts"):
        with pytest.raises(UsageError, match=r"cannot be a folder: there is a file of this name.*Name another folder"):
            capture(est, place)
    assert (tmp_path / "file").read_text() == "mine"


def test_only_a_full_disk_is_to_be_emptied(est: lw.Estimator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str, target: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(CaptureError, match=r"cannot be written: Permission denied\..* call capture again") as refused:
        capture(est, tmp_path / "acts")
    assert "room" not in str(refused.value)
    assert refused.value.errno == 13
