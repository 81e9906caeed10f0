"""Which checkpoint of a directory is used: the newest that can be read, and never silence about the others."""

from __future__ import annotations

import contextlib
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

from lightwell.errors import CheckpointUnreadable
from lightwell.run.checkpoints.entries import content_hash, parts_of
from lightwell.run.checkpoints.index import (
    check_readable,
    checked_path,
    latest_checkpoint,
    neighbours_with_checkpoints,
    newest_first,
    newest_usable,
    step_of,
)

v1 = tf.compat.v1


@pytest.fixture(scope="module")
def original(tmp_path_factory: Any) -> Path:
    """A directory with checkpoints of steps 1, 2 and 3."""
    directory = Path(tmp_path_factory.mktemp("original"))
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("kernel", [100], initializer=v1.ones_initializer())
        v1.get_variable("word", initializer=tf.constant("text"))
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(save_relative_paths=True)
        for step in (1, 2, 3):
            saver.save(session, str(directory / "model.ckpt"), step)
    return directory


@pytest.fixture
def saved(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "model"))


def data(directory: Path, step: int) -> Path:
    return directory / f"model.ckpt-{step}.data-00000-of-00001"


def index(directory: Path, step: int) -> Path:
    return directory / f"model.ckpt-{step}.index"


def prefix(directory: Path, step: int) -> str:
    return str(directory / f"model.ckpt-{step}")


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:50])


def test_the_newest_of_a_sound_directory(saved: Path, log: LogLines) -> None:
    assert newest_usable(str(saved)) == latest_checkpoint(str(saved)) == prefix(saved, 3)
    assert list(newest_first(str(saved))) == [prefix(saved, step) for step in (3, 2, 1)]
    assert log.lines == []


def test_a_directory_without_any(tmp_path: Path, log: LogLines) -> None:
    for directory in (tmp_path, tmp_path / "absent"):
        assert newest_usable(str(directory)) is None
        assert latest_checkpoint(str(directory)) is None
        assert list(newest_first(str(directory))) == []
    assert log.lines == []


BROKEN: list[tuple[str, Callable[[Path], None], str]] = [
    (
        "data cut",
        lambda d: cut(data(d, 3)),
        "is cut short: its data files hold 50 bytes, its index promises at least 4",
    ),
    ("data gone", lambda d: data(d, 3).unlink(), "has no data file"),
    ("index cut", lambda d: cut(index(d, 3)), r"cannot be read: not an sstable \(bad magic number\)"),
    ("index empty", lambda d: index(d, 3).write_bytes(b""), "cannot be read: file is too short"),
    ("index gone", lambda d: index(d, 3).unlink(), "cannot be read: .*Failed to find any matching files"),
]


@pytest.mark.parametrize(("how", "damage", "text"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_damaged_one_is_reported_and_the_one_before_taken(
    saved: Path, log: LogLines, how: str, damage: Callable[[Path], None], text: str
) -> None:
    damage(saved)
    with pytest.raises(CheckpointUnreadable, match=rf"Checkpoint .*model\.ckpt-3 {text}"):
        check_readable(prefix(saved, 3))
    assert newest_usable(str(saved)) == prefix(saved, 2)
    (line,) = log.having("Using the previous checkpoint")
    assert line.startswith("WARNING")
    assert line.endswith("model.ckpt-2.")


def test_any_damage_of_an_index_leads_to_the_one_before(saved: Path) -> None:
    """Or to none that matters; never to an error of TensorFlow's, such as an IndexError for bytes that are missing."""
    draw, content = random.Random(3), index(saved, 3).read_bytes()
    taken = set()
    for _ in range(300):
        damaged, place = bytearray(content), draw.randrange(len(content))
        kind = draw.randrange(4)
        if kind == 0:
            damaged[place] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del damaged[place:]
        else:
            end = place + draw.randrange(1, 40)
            damaged[place:end] = b"" if kind == 2 else draw.randbytes(len(damaged[place:end]))
        index(saved, 3).write_bytes(damaged)
        taken.add(newest_usable(str(saved)))
        for read in (parts_of, content_hash):
            with contextlib.suppress(CheckpointUnreadable):
                read(prefix(saved, 3))
    assert taken <= {prefix(saved, 2), prefix(saved, 3)}
    assert prefix(saved, 2) in taken


def test_names_that_would_steer_a_terminal_are_none(saved: Path, log: LogLines) -> None:
    (saved / "checkpoint").write_text('model_checkpoint_path: "/else/\\033[2Jwhere/model.ckpt-9"\n')
    assert newest_usable(str(saved)) == prefix(saved, 3)
    assert not log.having("\x1b")


def test_two_damaged_ones_are_both_reported(saved: Path, log: LogLines) -> None:
    cut(data(saved, 3))
    index(saved, 2).unlink()
    assert newest_usable(str(saved)) == prefix(saved, 1)
    assert len(log.having("Using the previous checkpoint")) == 2


def test_with_none_left_it_refuses_to_start_over(saved: Path) -> None:
    for step in (1, 2, 3):
        cut(data(saved, step))
    text = r"None of the 3 checkpoint\(s\) in .* can be read; refusing to start over .*Restore them from a backup.*cut"
    with pytest.raises(CheckpointUnreadable, match=text):
        newest_usable(str(saved))


def test_data_without_an_index_still_count_as_weights(saved: Path) -> None:
    for step in (1, 2, 3):
        index(saved, step).unlink()
    with pytest.raises(CheckpointUnreadable, match="refusing to start over"):
        newest_usable(str(saved))


def test_a_directory_whose_checkpoints_were_removed_is_not_trained_anew(saved: Path) -> None:
    for file in saved.glob("model.ckpt-*"):
        file.unlink()
    text = (
        r"The passed save_path is not a valid checkpoint: .*model\.ckpt-3\. The checkpoints that .*/checkpoint names "
        r"are all gone\. Restore them from a backup, or delete .*/checkpoint to start over\."
    )
    with pytest.raises(ValueError, match=text) as raised:
        newest_usable(str(saved))
    assert isinstance(raised.value, CheckpointUnreadable)
    (saved / "checkpoint").unlink()
    assert newest_usable(str(saved)) is None


def test_one_that_the_state_file_forgot_is_the_last_resort(saved: Path, log: LogLines) -> None:
    (saved / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-3"\n')
    cut(data(saved, 3))
    assert newest_usable(str(saved)) == prefix(saved, 2)


def test_going_back_by_hand_is_respected(saved: Path) -> None:
    (saved / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-2"\n')
    assert newest_usable(str(saved)) == prefix(saved, 2)
    cut(data(saved, 2))
    assert newest_usable(str(saved)) == prefix(saved, 1)


@pytest.mark.parametrize("text", ["", 'model_checkpoint_path: ""\n', "no state file at all", "\0\0\0"])
def test_a_damaged_state_file_is_not_a_fresh_start(saved: Path, log: LogLines, text: str) -> None:
    (saved / "checkpoint").write_text(text)
    assert newest_usable(str(saved)) == prefix(saved, 3)
    assert log.having("is damaged; looking at the files beside it")


def test_an_empty_state_file_does_not_hide_the_latest(saved: Path) -> None:
    (saved / "checkpoint").write_text("")
    assert latest_checkpoint(str(saved)) == prefix(saved, 3)


def test_a_moved_directory_works(saved: Path, tmp_path: Path) -> None:
    moved = saved.rename(tmp_path / "odd *name? {é}")
    assert newest_usable(str(moved)) == prefix(moved, 3)


def test_steps_are_read_off_names() -> None:
    assert step_of("/m/model.ckpt-120") == 120
    assert step_of("/m/model.ckpt") is None


def test_a_named_checkpoint_is_taken(saved: Path) -> None:
    assert checked_path(prefix(saved, 2)) == prefix(saved, 2)
    assert checked_path(saved / "model.ckpt-2") == prefix(saved, 2)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("model.ckpt-7", "does not exist"),
        ("", "is a directory; name one of its checkpoints"),
        ("model.ckpt-2.index", r"is one file of a checkpoint; name the checkpoint itself: '.*/model\.ckpt-2'"),
        ("model.ckpt-2.meta", "is one file of a checkpoint; .*"),
        ("model.ckpt-2.data-00000-of-00001", "is one file of a checkpoint; .*"),
    ],
)
def test_one_that_is_not_there_is_told_with_those_that_are(saved: Path, given: str, problem: str) -> None:
    text = rf"checkpoint_path '.*' {problem}\. .*Expected .* has model\.ckpt-3, model\.ckpt-2, model\.ckpt-1\."
    with pytest.raises(CheckpointUnreadable, match=text):
        checked_path(saved / given)


def test_one_in_no_directory_at_all() -> None:
    with pytest.raises(CheckpointUnreadable, match=r"does not exist\. .*/nowhere has no checkpoints\."):
        checked_path("/nowhere/model.ckpt-1")


def test_neighbours_are_children_and_siblings_that_hold_checkpoints(original: Path, tmp_path: Path) -> None:
    for name in ("run_b", "min", "run_a", "mine/inner"):
        shutil.copytree(original, tmp_path / name)
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "checkpoint").write_text("")
    (tmp_path / "a_file").write_text("")
    found = [Path(path).relative_to(tmp_path).as_posix() for path in neighbours_with_checkpoints(f"{tmp_path}/mine/")]
    assert found == ["mine/inner", "min", "run_a", "run_b"]
    assert len(neighbours_with_checkpoints(str(tmp_path / "mine"), most=2)) == 2
    assert neighbours_with_checkpoints(str(tmp_path / "absent" / "deeper")) == []


def test_a_directory_is_not_its_own_neighbour(saved: Path) -> None:
    assert neighbours_with_checkpoints(str(saved)) == []


def write_state(directory: Path, *paths: str) -> None:
    lines = [f'model_checkpoint_path: "{paths[-1]}"', *(f'all_model_checkpoint_paths: "{path}"' for path in paths)]
    (directory / "checkpoint").write_text("\n".join(lines) + "\n")


def test_a_state_file_that_names_a_place_that_is_gone(tmp_path: Path, log: LogLines) -> None:
    made = tiny.trained(tmp_path / "model", steps=3, save_checkpoints_steps=1)
    write_state(tmp_path / "model", "/gone/model.ckpt-2", "/gone/model.ckpt-3")
    assert made.latest_checkpoint() == prefix(tmp_path / "model", 3)
    assert made.evaluate(tiny.once)["global_step"] == 3
    (line,) = log.having("in another directory")
    assert line.startswith(
        f"WARNING {tmp_path}/model/checkpoint names /gone/model.ckpt-3, in another directory. Using "
    )
    assert line.endswith(f"Using {tmp_path}/model/model.ckpt-3, which is here.")
    made.train(tiny.data, max_steps=4)
    assert made.evaluate(tiny.once)["global_step"] == 4
    assert "/gone" not in (tmp_path / "model" / "checkpoint").read_text()


def test_a_copy_uses_its_own_checkpoints_and_leaves_the_others_alone(tmp_path: Path) -> None:
    old, copied = tmp_path / "old", tmp_path / "copied"
    tiny.trained(old, steps=3, save_checkpoints_steps=1, keep_checkpoint_max=4)
    shutil.copytree(old, copied)
    write_state(copied, *(prefix(old, step) for step in (0, 1, 2, 3)))
    before = sorted(file.name for file in old.iterdir())
    made = tiny.estimator(copied, save_checkpoints_steps=1, keep_checkpoint_max=4)
    assert made.latest_checkpoint() == prefix(copied, 3)
    made.train(tiny.data, steps=3)
    assert sorted(file.name for file in old.iterdir()) == before
    assert sorted(step_of(file.stem) or 0 for file in copied.glob("*.index")) == [3, 4, 5, 6]


def test_a_checkpoint_that_is_only_in_the_other_place_is_taken_from_there(tmp_path: Path, log: LogLines) -> None:
    old, empty = tmp_path / "old", tmp_path / "empty"
    tiny.trained(old, steps=3)
    empty.mkdir()
    write_state(empty, prefix(old, 3))
    made = tiny.estimator(empty)
    assert made.evaluate(tiny.once)["global_step"] == 3
    assert log.having(f"names {prefix(old, 3)}, in another directory, and it is taken from there.")
    made.train(tiny.data, steps=1)
    assert (old / "model.ckpt-0.index").exists()
    assert made.latest_checkpoint() == prefix(empty, 4)


def test_another_spelling_of_the_same_place_is_no_other_place(tmp_path: Path, log: LogLines) -> None:
    made = tiny.trained(tmp_path / "model", steps=2)
    (tmp_path / "link").symlink_to(tmp_path / "model")
    write_state(tmp_path / "model", prefix(tmp_path / "link", 2))
    assert made.evaluate(tiny.once)["global_step"] == 2
    assert not log.having("another directory")


def test_names_that_are_gone_do_not_hide_what_is_there(tmp_path: Path, log: LogLines) -> None:
    made = tiny.trained(tmp_path, steps=4, save_checkpoints_steps=2)
    write_state(tmp_path, "model.ckpt-1")
    assert made.evaluate(tiny.once)["global_step"] == 4
    assert log.having("Using the newer checkpoint")


def test_checkpoints_without_a_state_file_are_not_passed_over_in_silence(tmp_path: Path, log: LogLines) -> None:
    made = tiny.trained(tmp_path, steps=2)
    (tmp_path / "checkpoint").unlink()
    assert made.evaluate(tiny.once)["global_step"] == 0  # as in tf.estimator
    (line,) = log.having("has no state file 'checkpoint' that names a checkpoint")
    assert "although it holds model.ckpt-2, model.ckpt-0. To go on from one of them" in line
    v1.train.update_checkpoint_state(str(tmp_path), "model.ckpt-2")
    assert made.evaluate(tiny.once)["global_step"] == 2
