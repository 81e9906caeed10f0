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


def chosen(model_dir: Any, config: lw.RunConfig) -> str:
    return lw.Estimator(tiny.linear, model_dir, config, {}).model_dir


def test_the_argument_or_the_configs(tmp_path: Path) -> None:
    assert chosen("/a", lw.RunConfig()) == "/a"
    assert chosen(tmp_path, lw.RunConfig()) == str(tmp_path)
    assert chosen(None, lw.RunConfig(model_dir=tmp_path)) == str(tmp_path)
    assert chosen("/a", lw.RunConfig(model_dir="/a")) == "/a"


def test_both_and_different_is_a_mistake() -> None:
    text = "different values. In constructor: '/a', in `RunConfig`: '/b'. Set one of them"
    with pytest.raises(UsageError, match=text):
        chosen("/a", lw.RunConfig(model_dir="/b"))


@pytest.mark.parametrize("given", [None, ""])
def test_without_any_it_is_a_temporary_one(given: Any, log: LogLines) -> None:
    folder = chosen(given, lw.RunConfig())
    try:
        assert Path(folder).is_dir()
        assert log.having("WARNING") == [f"WARNING Using temporary folder as model directory: {folder}"]
    finally:
        shutil.rmtree(folder)


def test_it_is_made_with_its_parents(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path / "a" / "rate=0.1,x {é} *", steps=1)
    assert made.get_variable_value("global_step") == 1


def refused(model_dir: Path) -> Exception:
    """What a training is told that cannot be; nothing may have been built."""
    with pytest.raises((UsageError, ModelDirError)) as caught:
        tiny.estimator(model_dir, lambda features: pytest.fail("built")).train(tiny.data, steps=1)
    return caught.value


def test_one_that_cannot_be_written_is_told_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    error = refused(tmp_path / "file" / "below")
    assert isinstance(error, ModelDirError)
    assert isinstance(error, OSError)
    assert f"model_dir '{tmp_path}/file/below' cannot be written: " in str(error)
    assert "Nothing has been trained. Choose another model_dir" in str(error)


def test_square_brackets_would_lose_the_checkpoints(tmp_path: Path) -> None:
    error = refused(tmp_path / "rate[1]")
    assert isinstance(error, UsageError)
    assert "has square brackets in it, which TensorFlow takes for a pattern" in str(error)
    assert "rename the directory" in str(error)


def test_an_untrained_model_is_told_with_its_neighbours(tmp_path: Path, log: LogLines) -> None:
    tiny.trained(tmp_path / "run_1", steps=1)
    tiny.estimator(tmp_path / "run_l").evaluate(tiny.once)
    (line,) = log.having("Could not find trained model")
    assert line.startswith(f"WARNING Could not find trained model in model_dir: {tmp_path}/run_l, running init")
    assert "running initialization to evaluate. The results are those of RANDOM initial weights." in line
    assert "The directory does not exist; is the path right?" in line
    assert line.endswith(f"Directories nearby that do hold checkpoints: {tmp_path}/run_1")


def test_one_that_is_there_and_alone_is_told_shortly(tmp_path: Path, log: LogLines) -> None:
    (tmp_path / "alone" / "mine").mkdir(parents=True)
    list(tiny.estimator(tmp_path / "alone" / "mine").predict(tiny.once))
    (line,) = log.having("Could not find trained model")
    assert "running initialization to predict" in line
    assert line.endswith("RANDOM initial weights.")
