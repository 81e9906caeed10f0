"""The lines of a lineage: added, read back, and passed over where a crash cut one short."""

from __future__ import annotations

from pathlib import Path

from tests import tiny

from lightwell.checkpoints.lineage import FILE_NAME, Change, history, origin_now, origins, summed, write_down


def test_lines_are_read_back_and_a_torn_one_is_passed_over(tmp_path: Path) -> None:
    prefix = str(tiny.trained(tmp_path).latest_checkpoint())
    before = history(str(tmp_path))
    assert [(one.checkpoint, one.parent, one.by) for one in before] == [
        ("model.ckpt-0", None, "train"),
        ("model.ckpt-2", "model.ckpt-0", "train"),
    ]
    with open(tmp_path / FILE_NAME, "a") as file:
        file.write('{"checkpoint": "model.ck')
    edited = origin_now(prefix, "somewhere/model.ckpt-1", "edit", [Change("weights/w", 1, 1, 0.5)], "a note")
    write_down(str(tmp_path), edited, durable=True)
    assert history(str(tmp_path)) == [*before, edited]
    assert origins(str(tmp_path))["model.ckpt-2"] == edited
    assert edited.parent == "model.ckpt-1"
    assert edited.hash == before[1].hash


def test_no_lineage_is_an_empty_one(tmp_path: Path) -> None:
    assert history(str(tmp_path)) == []


def test_many_edits_of_one_weight_are_told_as_one() -> None:
    edits = [Change("weights/w", 1 + i % 2, 9, 0.1, f"set at step {i}") for i in range(100)]
    other = Change("weights/b", 1, 1, 2.0, "set at step 7")
    assert list(map(str, summed([*edits, other]))) == [
        "weights/w 100 times, last set at step 99: 2 of 9 numbers",
        "weights/b set at step 7: 1 of 1 numbers, by 2",
    ]
