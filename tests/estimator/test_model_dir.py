"""The directory of a model: chosen, made, checked before work is put into it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw
from lightwell.errors import ModelDirError, UsageError
from lightwell.estimator.model_dir import chosen_model_dir, ensure_writable, warn_untrained


def test_the_argument_or_the_configs(tmp_path: Path) -> None:
    assert chosen_model_dir("/a", lw.RunConfig()) == "/a"
    assert chosen_model_dir(tmp_path, lw.RunConfig()) == str(tmp_path)
    assert chosen_model_dir(None, lw.RunConfig(model_dir=tmp_path)) == str(tmp_path)
    assert chosen_model_dir("/a", lw.RunConfig(model_dir="/a")) == "/a"


def test_both_and_different_is_a_mistake() -> None:
    text = "different values. In constructor: '/a', in `RunConfig`: '/b'. Set one of them"
    with pytest.raises(UsageError, match=text):
        chosen_model_dir("/a", lw.RunConfig(model_dir="/b"))


@pytest.mark.parametrize("given", [None, ""])
def test_without_any_it_is_a_temporary_one(given: Any, log: LogLines) -> None:
    chosen = chosen_model_dir(given, lw.RunConfig())
    try:
        assert Path(chosen).is_dir()
        assert log.lines == [f"WARNING Using temporary folder as model directory: {chosen}"]
    finally:
        shutil.rmtree(chosen)


def test_it_is_made_with_its_parents_and_left_empty(tmp_path: Path) -> None:
    ensure_writable(str(tmp_path / "a" / "b"))
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_one_that_cannot_be_written_is_told_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    text = r"model_dir '.*/file/below' cannot be written: .*Nothing has been trained\. Choose another model_dir"
    with pytest.raises(ModelDirError, match=text) as caught:
        ensure_writable(str(tmp_path / "file" / "below"))
    assert isinstance(caught.value, OSError)


def test_square_brackets_would_lose_the_checkpoints(tmp_path: Path) -> None:
    text = "has square brackets in it, which TensorFlow takes for a pattern.*rename the directory"
    with pytest.raises(UsageError, match=text):
        ensure_writable(str(tmp_path / "rate[1]"))
    ensure_writable(str(tmp_path / "rate=0.1,x {é} *"))


def test_an_untrained_model_is_told_with_its_neighbours(tmp_path: Path, log: LogLines) -> None:
    tiny.trained(tmp_path / "run_1", steps=1)
    log.lines.clear()
    warn_untrained(str(tmp_path / "run_l"), "evaluate")
    (line,) = log.lines
    assert line.startswith(f"WARNING Could not find trained model in model_dir: {tmp_path}/run_l, running init")
    assert "running initialization to evaluate. The results are those of RANDOM initial weights." in line
    assert "The directory does not exist; is the path right?" in line
    assert line.endswith(f"Directories nearby that do hold checkpoints: {tmp_path}/run_1")


def test_one_that_is_there_and_alone_is_told_shortly(tmp_path: Path, log: LogLines) -> None:
    (tmp_path / "alone" / "mine").mkdir(parents=True)
    warn_untrained(str(tmp_path / "alone" / "mine"), "predict")
    (line,) = log.lines
    assert line.endswith("RANDOM initial weights.")
