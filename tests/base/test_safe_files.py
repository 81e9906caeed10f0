"""Files of ours in folders of the user: never through a link, under names that nobody can foretell."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import tensorflow as tf

from lightwell.base import safe_files
from lightwell.errors import ModelDirError


@pytest.fixture
def photo(tmp_path: Path) -> Iterator[Path]:
    """A file elsewhere, which must stay as it is."""
    file = tmp_path / "photos" / "photo.jpg"
    file.parent.mkdir()
    file.write_text("a photo")
    yield file
    assert file.read_text() == "a photo"
    assert os.listdir(file.parent) == ["photo.jpg"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model").mkdir()
    return tmp_path / "model"


@pytest.fixture
def elsewhere() -> str:
    """A folder on storage that is no disk of this machine."""
    made = f"ram://{uuid.uuid4().hex}"
    tf.io.gfile.makedirs(made)
    return made


def test_a_link_is_replaced_by_the_file(folder: Path, photo: Path) -> None:
    (folder / "description.json").symlink_to(photo)
    (folder / "description.json.writing").symlink_to(photo)
    safe_files.replace_file(str(folder / "description.json"), "new", durable=True)
    assert not (folder / "description.json").is_symlink()
    assert (folder / "description.json").read_text() == "new"
    safe_files.copy_file(str(folder / "description.json"), str(folder / "copy"))
    assert (folder / "copy").read_text() == "new"


def test_temporary_names_cannot_be_foretold(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    replace = os.replace

    def watched(source: str, target: str) -> None:
        seen.append(os.path.basename(source))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watched)
    for _ in range(3):
        safe_files.replace_file(str(folder / "a"), "x")
    assert len(set(seen)) == 3
    assert all(re.fullmatch(r"a\.[0-9a-f]{16}\.writing", name) for name in seen)
    assert all(safe_files.final_name(name) == "a" for name in seen)
    assert safe_files.final_name("a.writing") == ""


def test_what_fails_leaves_the_old_file_and_nothing_else(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    safe_files.replace_file(str(folder / "a"), "old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        safe_files.replace_file(str(folder / "a"), "new", durable=True)
    assert os.listdir(folder) == ["a"]
    assert (folder / "a").read_text() == "old"
    with pytest.raises(OSError, match=r"No such file or directory: '.*/gone/a'$"):
        safe_files.replace_file(str(folder / "gone" / "a"), "new")


def test_lines_are_not_appended_through_a_link(folder: Path, photo: Path) -> None:
    (folder / "lineage.jsonl").symlink_to(photo)
    with pytest.raises(
        ModelDirError, match=r"lineage\.jsonl is a link to '.*photo\.jpg'; expected a plain file .* Remov"
    ):
        safe_files.append_line(str(folder / "lineage.jsonl"), "line")
    with pytest.raises(ModelDirError, match="is a link to"):
        safe_files.check_plain(str(folder / "lineage.jsonl"))


def test_lines_are_not_appended_to_a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "lineage.jsonl")
    with pytest.raises(ModelDirError, match="is no plain file"):
        safe_files.append_line(str(folder / "lineage.jsonl"), "line")


def test_lines(folder: Path) -> None:
    path = str(folder / "lines")
    safe_files.append_line(path, "one", durable=True)
    with open(path, "a") as file:
        file.write("cut sh")
    safe_files.append_line(path, "two")
    assert (folder / "lines").read_text() == "one\ncut sh\ntwo\n"


def test_a_snapshot_of_hard_links_keeps_what_it_has(folder: Path, tmp_path: Path) -> None:
    safe_files.append_line(str(folder / "lines"), "one")
    os.link(folder / "lines", tmp_path / "snapshot")
    safe_files.append_line(str(folder / "lines"), "two")
    assert (tmp_path / "snapshot").read_text() == "one\n"
    assert (folder / "lines").read_text() == "one\ntwo\n"
    lock = safe_files.open_lock(str(folder / "lock"))
    safe_files.write_in_lock(lock, "mine")
    os.link(folder / "lock", tmp_path / "other")
    safe_files.write_in_lock(lock, "another")
    os.close(lock)
    assert (tmp_path / "other").read_text() == "mine"


def test_a_lock_is_no_link(folder: Path, photo: Path) -> None:
    (folder / "training.lock").symlink_to(photo)
    with pytest.raises(ModelDirError, match=r"training\.lock is a link to"):
        safe_files.open_lock(str(folder / "training.lock"))
    (folder / "other.lock").symlink_to(folder / "not there")
    with pytest.raises(ModelDirError, match=r"other\.lock is a link to"):
        safe_files.open_lock(str(folder / "other.lock"))
    assert not (folder / "not there").exists()


def test_a_tree_is_removed_without_what_links_in_it_point_to(folder: Path, photo: Path) -> None:
    tree = Path(safe_files.make_unique_folder(str(folder), ".edit-"))
    (tree / "deep").mkdir()
    (tree / "deep" / "photos").symlink_to(photo.parent)
    (tree / "photo").symlink_to(photo)
    safe_files.remove_tree(str(tree))
    safe_files.remove_tree(str(tree))
    assert os.listdir(folder) == []


def test_a_link_to_a_tree_is_no_tree(folder: Path, photo: Path) -> None:
    link = folder / ".edit-0123456789abcdef"
    link.symlink_to(photo.parent)
    with pytest.raises(OSError, match="symbolic link"):
        safe_files.remove_tree(str(link))
    assert not safe_files.is_folder(str(link))
    assert list(safe_files.matching_folders(str(folder), re.compile(r"\.edit-.*"))) == []
    safe_files.remove_link(str(link))
    safe_files.remove_link(str(link))
    assert os.listdir(folder) == []


def test_what_killed_processes_left_goes_once_it_is_old(folder: Path, photo: Path) -> None:
    token = "0123456789abcdef"
    for name in (f"a.{token}.writing", f"b.{token}.writing", "c.writing"):
        (folder / name).write_text("")
    (folder / f"d.{token}.writing").symlink_to(photo)
    os.utime(folder / f"a.{token}.writing", (0, 0))
    safe_files.remove_unfinished(str(folder))
    assert sorted(os.listdir(folder)) == [f"b.{token}.writing", "c.writing", f"d.{token}.writing"]
    safe_files.remove_unfinished(str(folder), 0.0, lambda name: name == "a")
    assert f"b.{token}.writing" in os.listdir(folder)
    safe_files.remove_unfinished(str(folder), 0.0)
    assert sorted(os.listdir(folder)) == ["c.writing", f"d.{token}.writing"]


def test_a_link_on_the_way_to_the_folder_is_the_users(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "runs").symlink_to(folder)
    safe_files.check_writable(str(tmp_path / "runs"))
    safe_files.replace_file(str(tmp_path / "runs" / "a"), "x")
    safe_files.append_line(f"file://{tmp_path}/runs/b", "y")
    assert sorted(os.listdir(folder)) == ["a", "b"]


def test_storage_elsewhere(elsewhere: str) -> None:
    file = f"{elsewhere}/a"
    safe_files.check_writable(elsewhere)
    safe_files.replace_file(file, "one\ntwo", durable=True)
    safe_files.append_line(file, "three")
    safe_files.check_plain(file)
    with tf.io.gfile.GFile(file) as opened:
        assert opened.read() == "one\ntwo\nthree\n"
    safe_files.copy_file(file, f"{elsewhere}/b")
    assert safe_files.is_plain_file(f"{elsewhere}/b")
    safe_files.remove_file(file)
    safe_files.remove_file(file)
    made = safe_files.make_unique_folder(elsewhere, ".edit-")
    safe_files.replace_file(f"{made}/c", "c")
    assert list(safe_files.matching_folders(elsewhere, re.compile(rf"\.edit-{safe_files.TOKEN}"))) == [made]
    safe_files.remove_tree(made)
    assert tf.io.gfile.listdir(elsewhere) == ["b"]
