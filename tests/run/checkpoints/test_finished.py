"""The mark of a finished training, for whoever waits in `model_dir`."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from lightwell.errors import ModelDirError
from lightwell.run.checkpoints.finished import (
    NAME,
    mark_begun,
    mark_finished,
    read_finished,
    read_stop_request,
    remove_mark,
    was_cut_short,
    write_stop_request,
)


def test_it_tells_where_the_training_ended_and_why(tmp_path: Path) -> None:
    assert read_finished(str(tmp_path)) is None
    mark_begun(str(tmp_path))
    assert was_cut_short(str(tmp_path))
    mark_finished(str(tmp_path), 12, "max_steps=12 was reached.")
    assert not was_cut_short(str(tmp_path))
    told = json.loads((tmp_path / NAME).read_text())
    assert list(told) == ["global_step", "stopped", "time"]
    found = read_finished(str(tmp_path))
    assert found is not None
    assert (found.global_step, found.stopped) == (12, "max_steps=12 was reached.")
    assert abs(found.time - time.time()) < 60
    assert [path.name for path in tmp_path.iterdir()] == [NAME], "nothing half written is left"


def test_it_goes_when_training_goes_on(tmp_path: Path) -> None:
    remove_mark(str(tmp_path))
    mark_finished(str(tmp_path), 1, "")
    remove_mark(str(tmp_path))
    assert read_finished(str(tmp_path)) is None


def test_a_wish_to_stop_stands_until_training_begins_anew(tmp_path: Path) -> None:
    assert read_stop_request(str(tmp_path)) == ""
    write_stop_request(str(tmp_path), "It gets no better.")
    assert read_stop_request(str(tmp_path)) == "It gets no better."
    remove_mark(str(tmp_path))
    assert read_stop_request(str(tmp_path)) == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"global_step": 1}', '{"global_step": "1", "stopped": "", "time": 0}']
)
def test_a_damaged_mark_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / NAME).write_text(content)
    with pytest.raises(ModelDirError, match=r"training_finished\.json, which .* is damaged \(.*\)\. Remove it if"):
        read_finished(str(tmp_path))
