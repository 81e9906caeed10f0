"""Nothing outside of a folder is changed because of what lies inside it: links, state files, names in JSON.

Links stand in the place of every file that a training, an edit, an export and a capture make; what they point to must
stay as it is.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw
from lightwell.errors import LightwellError, ModelDirError

v1 = tf.compat.v1


class Photos:
    """A folder elsewhere, to which links point."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "2024").mkdir(parents=True)
        self._number = 0
        self.file()
        self._before = self._content()

    def file(self) -> Path:
        """A new photo."""
        self._number += 1
        made = self.path / "2024" / f"{self._number:04d}.jpg"
        made.write_text(f"photo {self._number}")
        self._before = self._content()
        return made

    def check(self) -> None:
        """All are there, and nothing else is."""
        assert self._content() == self._before

    def _content(self) -> dict[str, str]:
        return {str(path): path.read_text() for path in sorted(self.path.rglob("*")) if path.is_file()}


@pytest.fixture
def photos(tmp_path: Path) -> Iterator[Photos]:
    made = Photos(tmp_path / "photos")
    yield made
    made.check()


def edited(est: lw.Estimator) -> None:
    with est.edit() as edit:
        edit["weights/w"] = 3.0


@pytest.mark.parametrize("name", [".edit-x", ".edit-0123456789ab", ".edit-0123456789abcdef"])
def test_an_edit_removes_no_folder_that_a_link_points_to(tmp_path: Path, photos: Photos, name: str) -> None:
    est = tiny.trained(tmp_path / "model")
    (tmp_path / "model" / name).symlink_to(photos.path)
    edited(est)
    assert est.get_variable_value("w") == 3.0
    photos.check()


def test_what_a_killed_edit_left_goes_without_what_links_in_it_point_to(tmp_path: Path, photos: Photos) -> None:
    est = tiny.trained(tmp_path / "model")
    left = tmp_path / "model" / ".edit-0123456789abcdef"
    left.mkdir()
    (left / "photos").symlink_to(photos.path)
    notes = tmp_path / "model" / ".edit-notes"
    notes.mkdir()
    edited(est)
    assert not left.exists()
    assert notes.exists(), "a folder whose name is not ours stays"


@pytest.mark.parametrize("name", ["temp-1000000000", "temp-1000000000-elsewhere-1-0123456789abcdef"])
def test_an_export_removes_no_folder_that_a_link_points_to(tmp_path: Path, photos: Photos, name: str) -> None:
    est = tiny.trained(tmp_path / "model")
    (tmp_path / "exports").mkdir()
    (tmp_path / "exports" / name).symlink_to(photos.path)
    folder = est.export_saved_model(tmp_path / "exports").decode()
    assert tf.saved_model.contains_saved_model(folder)


def test_an_export_removes_no_folder_of_somebody_else(tmp_path: Path) -> None:
    """Its name is that of an unfinished export of old; what is in it is not."""
    est = tiny.trained(tmp_path / "model")
    theirs = tmp_path / "exports" / "temp-1000000000"
    theirs.mkdir(parents=True)
    (theirs / "thesis.txt").write_text("three years")
    est.export_saved_model(tmp_path / "exports")
    assert (theirs / "thesis.txt").read_text() == "three years"


def test_exporters_remove_no_version_that_is_a_link(tmp_path: Path, photos: Photos) -> None:
    est = tiny.trained(tmp_path / "model")
    (photos.path / "saved_model.pb").write_text("a model of somebody else")
    photos.file()
    place = tmp_path / "model" / "export" / "latest"
    place.mkdir(parents=True)
    for name in ("1600000000", "deleted-1600000001", "deleted-1600000001-0123456789abcdef"):
        (place / name).symlink_to(photos.path)
    exporter = lw.LatestExporter(
        "latest", lw.export.build_raw_serving_input_receiver_fn({"x": tf.TensorSpec([None])}), exports_to_keep=1
    )
    for _ in range(2):
        exporter.export(est, str(place), est.latest_checkpoint(), {}, False)
    assert (place / "1600000000").is_symlink()
    assert len([name for name in os.listdir(place) if not (place / name).is_symlink()]) == 1


@pytest.mark.parametrize("name", ["training.lock", "lineage.jsonl"])
def test_what_is_appended_to_or_locked_is_no_link(tmp_path: Path, photos: Photos, name: str) -> None:
    est = tiny.trained(tmp_path / "model")
    (tmp_path / "model" / name).unlink()
    (tmp_path / "model" / name).symlink_to(photos.file())
    match = rf"{name} is a link to '.*\.jpg'; expected a plain file .*Remove it"
    with pytest.raises(ModelDirError, match=match):
        est.train(tiny.data, steps=1)
    photos.check()
    with pytest.raises(ModelDirError, match=match):
        edited(est)
    photos.check()
    assert est.get_variable_value("global_step") == 2, "the model is as it was"


def test_best_checkpoints_are_not_kept_through_a_link(tmp_path: Path) -> None:
    """What is not the best is removed from that folder: of another model, here."""
    other = tiny.trained(tmp_path / "other")
    est = tiny.trained(tmp_path / "model")
    (tmp_path / "model" / "best").mkdir()
    (tmp_path / "model" / "best" / "loss").symlink_to(other.model_dir)
    before = sorted(os.listdir(other.model_dir))
    with pytest.raises(ModelDirError, match=r"KeepBest: .*/best/loss is a link, .*directory="):
        lw.KeepBest("loss").offer(est, est.evaluate(tiny.once))
    assert sorted(os.listdir(other.model_dir)) == before


def test_best_checkpoints_are_not_kept_among_files_of_somebody_else(tmp_path: Path) -> None:
    est = tiny.trained(tmp_path / "model")
    (tmp_path / "songs").mkdir()
    (tmp_path / "songs" / "song.meta").write_text("a song")
    with pytest.raises(LightwellError, match=r"has checkpoints that it did not put there, such as .*song\.meta"):
        lw.KeepBest("loss", directory=tmp_path / "songs").offer(est, est.evaluate(tiny.once))
    assert (tmp_path / "songs" / "song.meta").read_text() == "a song"


def test_a_record_of_best_checkpoints_names_files_beside_it(tmp_path: Path) -> None:
    est = tiny.trained(tmp_path / "model")
    lw.KeepBest("loss").offer(est, est.evaluate(tiny.once))
    record = tmp_path / "model" / "best" / "loss" / "kept.json"
    record.write_text(record.read_text().replace('"model.ckpt-2"', '"../../model.ckpt-2"'))
    with pytest.raises(LightwellError, match=r"kept\.json cannot be read \(kept: name: expected the name of a file"):
        lw.KeepBest("loss").offer(est, est.evaluate(tiny.once))


@pytest.mark.parametrize("spelt", ["absolute", "relative"])
def test_checkpoints_that_a_state_file_names_elsewhere_are_read_and_stay(tmp_path: Path, spelt: str) -> None:
    other = tiny.estimator(tmp_path / "other", save_checkpoints_steps=2)
    other.train(tiny.data, steps=4)
    before = {path.name: path.read_bytes() for path in (tmp_path / "other").iterdir()}
    place = str(tmp_path / "other") if spelt == "absolute" else "../other"
    (tmp_path / "model").mkdir()
    lines = [f'model_checkpoint_path: "{place}/model.ckpt-4"']
    lines += [f'all_model_checkpoint_paths: "{place}/model.ckpt-{step}"' for step in (0, 2, 4)]
    (tmp_path / "model" / "checkpoint").write_text("\n".join(lines) + "\n")
    est = tiny.estimator(tmp_path / "model", save_checkpoints_steps=2, keep_checkpoint_max=2)
    est.train(tiny.data, steps=6)
    assert est.get_variable_value("global_step") == 10, "it went on from the other one's weights"
    edited(est)
    est.train(tiny.data, steps=4)
    assert {path.name: path.read_bytes() for path in (tmp_path / "other").iterdir()} == before
    assert len(list((tmp_path / "model").glob("*.index"))) == 2


def everything(place: Path) -> None:
    """Trains, evaluates, exports, edits, goes back and captures, in fixed names."""
    est = tiny.estimator(place / "model", save_checkpoints_steps=2, keep_checkpoint_max=2)
    receiver = lw.export.build_raw_serving_input_receiver_fn({"x": tf.TensorSpec([None])})
    exporters = [lw.BestExporter("best", receiver, exports_to_keep=1), lw.LatestExporter("latest", receiver, None, 1)]
    lw.train_and_evaluate(
        est,
        lw.TrainSpec(tiny.data, max_steps=6),
        lw.EvalSpec(tiny.once, steps=1, exporters=exporters, start_delay_secs=0, throttle_secs=0),
        observers=[lw.KeepBest("loss"), lw.EarlyStopping("mae", patience=9, restore_best=True)],
    )
    edited(est)
    est.revert()
    est.train(tiny.data, steps=2)
    est.export_saved_model(place / "exports")
    est.capture(tiny.once, ["predictions/out"], place / "capture")


class Watched:
    """The names that Python opens for writing, makes or renames below a folder, temporary ones too."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self._below = ""
        sys.addaudithook(self._see)

    @contextlib.contextmanager
    def below(self, folder: Path) -> Iterator[None]:
        self._below = str(folder)
        try:
            yield
        finally:
            self._below = ""

    def _see(self, event: str, given: tuple[Any, ...]) -> None:
        if not self._below:
            return
        if event == "open" and isinstance(given[2], int) and given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            self._add(given[0])
        elif event in ("os.rename", "os.mkdir", "os.link"):
            self._add(given[0])
            self._add(given[1])

    def _add(self, path: Any) -> None:
        if isinstance(path, str) and path.startswith(self._below):
            self.paths.add(os.path.relpath(path, self._below))


def test_links_in_the_place_of_every_file(tmp_path: Path, photos: Photos) -> None:
    watched = Watched()
    with watched.below(tmp_path / "first"):
        everything(tmp_path / "first")
    there = {path.relative_to(tmp_path / "first") for path in (tmp_path / "first").rglob("*") if path.is_file()}
    seen = {str(path) for path in there} | watched.paths
    assert any(name.endswith(".writing") for name in seen), "temporary names were seen"
    # What TensorFlow writes and removes by itself, and names of before.
    seen |= {f"model/model.ckpt-{step}_temp" for step in range(10)}
    seen |= {f"{name}.writing" for name in seen if not name.endswith(("_temp", ".writing"))}
    seen |= {f"model/.lightwell-{os.getpid()}", "model/.edit-0123456789abcdef", "exports/temp-1000000000"}
    refused = {"model/training.lock", "model/lineage.jsonl"}  # held by a test of their own
    folders = {"", *(os.path.dirname(name) for name in seen)}
    planted = []
    for name in sorted(seen - refused - folders):
        link = tmp_path / "second" / name
        if any(part.isdigit() or part == "variables" for part in name.split("/")):
            continue  # exports, whose folders are new each time
        if name.endswith((".index", "kept.json")) or ("/best/" in name and "model.ckpt" in name):
            continue  # read before they are written: they would be taken for damaged files, and refused
        if name.startswith("capture/") and not name.endswith(".writing"):
            continue  # a folder with files in it and no capture is refused, too
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(photos.path if name.endswith(("_temp", "abcdef", "temp-1000000000")) else photos.file())
        planted.append(name)
    assert len(planted) > 60
    everything(tmp_path / "second")
    photos.check()
    for name in there & {Path(one) for one in planted}:
        made = tmp_path / "second" / name
        assert not made.is_symlink() or "tfevents" in name.name or not made.exists(), name


def test_links_in_the_place_of_the_files_of_a_capture(tmp_path: Path, photos: Photos) -> None:
    est = tiny.trained(tmp_path / "model")
    folder = tmp_path / "capture"
    est.capture(tiny.once, ["predictions/out"], folder)
    content = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name in ("shard-00000.arrow", "capture.json.writing", "shard-00000.arrow.writing", "statistics.arrow"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(photos.file())
    est.capture(tiny.once, ["predictions/out"], folder)
    photos.check()
    assert (folder / "shard-00000.arrow").read_bytes() == content["shard-00000.arrow"]
    (folder / "shard-of-pottery.txt").write_text("old")
    est.capture(tiny.once, ["predictions/out"], folder, overwrite=True)
    assert (folder / "shard-of-pottery.txt").read_text() == "old", "its name is not ours"


def test_event_files_are_not_written_through_links(tmp_path: Path, photos: Photos) -> None:
    """Their names begin with the second and the machine, for which links can be made before."""
    (tmp_path / "model").mkdir()
    photo, now = photos.file(), int(time.time())
    for second in range(now - 2, now + 120):
        (tmp_path / "model" / f"events.out.tfevents.{second:010d}.{socket.gethostname()}").symlink_to(photo)
    tiny.trained(tmp_path / "model")
    photos.check()
    assert [path for path in (tmp_path / "model").glob("*tfevents*") if not path.is_symlink()]


def test_names_in_json_are_no_paths(tmp_path: Path) -> None:
    est = tiny.trained(tmp_path / "model")
    edited(est)
    file = tmp_path / "model" / "lineage.jsonl"
    line = json.loads(file.read_text().splitlines()[-1])
    file.write_text(json.dumps({**line, "parent": "../../other/model.ckpt-2"}) + "\n")
    with pytest.raises(LightwellError, match=r"no parent of model\.ckpt-edit1-2 is recorded"):
        est.revert()
