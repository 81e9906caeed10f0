"""The lines of a lineage: added, read back, and passed over where a crash cut one short."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests import tiny

from lightwell.run.checkpoints.lineage import (
    FILE_NAME,
    Change,
    append_origin,
    history,
    merge_changes,
    new_origin,
    origins,
)


def test_lines_are_read_back_and_a_torn_one_is_passed_over(tmp_path: Path) -> None:
    prefix = str(tiny.trained(tmp_path).latest_checkpoint())
    before = history(str(tmp_path))
    assert [(one.checkpoint, one.parent, one.by) for one in before] == [
        ("model.ckpt-0", None, "train"),
        ("model.ckpt-2", "model.ckpt-0", "train"),
    ]
    with open(tmp_path / FILE_NAME, "a") as file:
        file.write('{"checkpoint": "model.ck')
    edited = new_origin(prefix, "somewhere/model.ckpt-1", "edit", [Change("weights/w", 1, 1, 0.5)], "a note")
    append_origin(str(tmp_path), edited, durable=True)
    assert history(str(tmp_path)) == [*before, edited]
    assert origins(str(tmp_path))["model.ckpt-2"] == edited
    assert edited.parent == "model.ckpt-1"
    assert edited.hash == before[1].hash


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("checkpoint", 3),
        ("checkpoint", "../other/model.ckpt-2"),
        ("checkpoint", None),
        ("step", "2"),
        ("step", -1),
        ("parent", ["model.ckpt-0"]),
        ("parent", "/elsewhere/model.ckpt-0"),
        ("hash", 12),
        ("when", "yesterday"),
        ("when", 1e300),
        ("when", float("nan")),
        ("by", None),
        ("note", {"a": 1}),
        ("edits", "all"),
        ("edits", [{"path": 1, "changed": 1, "size": 1}]),
        ("edits", [{"path": "weights/w", "changed": "1", "size": 1}]),
        ("edits", [3]),
    ],
)
def test_a_line_with_values_of_another_type_is_passed_over(tmp_path: Path, name: str, value: Any) -> None:
    est = tiny.trained(tmp_path)
    lines = [json.loads(line) for line in (tmp_path / FILE_NAME).read_text().splitlines()]
    lines[1][name] = value
    (tmp_path / FILE_NAME).write_text("".join(f"{json.dumps(line)}\n" for line in lines) + "[]\n3\nnull\n")
    assert [one.checkpoint for one in history(str(tmp_path))] == ["model.ckpt-0"]
    assert "model.ckpt-2" in str(est.lineage())
    assert "by another program" in str(est.lineage())
    with est.edit(note="it goes on") as edit:
        edit["weights/w"] = 2.0
    assert est.lineage()[-1].parent == "model.ckpt-2"


def test_a_note_does_not_steer_the_terminal(tmp_path: Path) -> None:
    est = tiny.trained(tmp_path)
    with est.edit(note="\x1b[2Jgone\r\x9b31m\nnext line") as edit:
        edit["weights/w"] = 2.0
    for shown in (str(est.lineage()), est.lineage()._repr_html_()):
        assert "\\x1b[2Jgone" in shown
        assert not {"\x1b", "\r", "\x9b"} & set(shown)
    assert est.lineage()[-1].note.startswith("\x1b"), "as data, it is what was written"


def test_no_lineage_is_an_empty_one(tmp_path: Path) -> None:
    assert history(str(tmp_path)) == []


def test_many_edits_of_one_weight_are_told_as_one() -> None:
    edits = [Change("weights/w", 1 + i % 2, 9, 0.1, f"set at step {i}") for i in range(100)]
    other = Change("weights/b", 1, 1, 2.0, "set at step 7")
    assert list(map(str, merge_changes([*edits, other]))) == [
        "weights/w 100 times, last set at step 99: 2 of 9 numbers",
        "weights/b set at step 7: 1 of 1 numbers, by 2",
    ]
