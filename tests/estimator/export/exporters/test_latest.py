"""`LatestExporter` deletes exports that are too old, and nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.conftest import LogLines
from tests.parity.exporter_scenes import Pretends, names, receiver

import lightwell as lw


def old_export(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "saved_model.pb").touch()
    return folder


def export_once(there: Path, keep: int = 1) -> None:
    lw.LatestExporter("latest", receiver, exports_to_keep=keep).export(Pretends(there), str(there), "c", {}, False)


def test_what_is_no_export_stays(tmp_path: Path) -> None:
    old_export(tmp_path / "1600000000")
    kept = {
        "1600000001": "no SavedModel in it",
        "16": "a number of another length",
        "temp-1600000003": "half an export",
    }
    for name in kept:
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    (tmp_path / "1600000004").write_text("a file")
    export_once(tmp_path)
    assert names(tmp_path) == sorted([*kept, "1600000004", "1700000000"])


def test_a_model_written_as_text_is_an_export(tmp_path: Path) -> None:
    (tmp_path / "1600000000").mkdir()
    (tmp_path / "1600000000" / "saved_model.pbtxt").touch()
    export_once(tmp_path)
    assert names(tmp_path) == ["1700000000"]


def test_what_a_killed_process_was_deleting_is_deleted(tmp_path: Path) -> None:
    old_export(tmp_path / "deleted-1600000000")
    (tmp_path / "deleted-mine").mkdir()
    export_once(tmp_path)
    assert names(tmp_path) == ["1700000000", "deleted-mine"]


def test_one_that_cannot_be_deleted_is_told(tmp_path: Path, log: LogLines, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    old_export(tmp_path / "1600000000")
    monkeypatch.setattr(shutil, "rmtree", refuse)
    export_once(tmp_path)
    (line,) = log.having("cannot be deleted")
    assert "deleted-1600000000" in line
    assert "Permission denied" in line


def test_a_path_may_be_an_object(tmp_path: Path) -> None:
    exporter = lw.LatestExporter("latest", receiver, exports_to_keep=1)
    estimator = Pretends(tmp_path)
    for _ in range(2):
        made = exporter.export(estimator, tmp_path / "there", "c", {}, False)
    assert names(tmp_path / "there") == [os.path.basename(made).decode()]


def test_how_many_to_keep_is_a_whole_number() -> None:
    with pytest.raises(
        TypeError, match=r"LatestExporter: `exports_to_keep` must be a whole number or None, got float 1"
    ):
        lw.LatestExporter("latest", receiver, exports_to_keep=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"must be positive number\. Got -2\. Pass None to keep all exports\."):
        lw.LatestExporter("latest", receiver, exports_to_keep=-2)
