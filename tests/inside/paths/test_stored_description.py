"""The description in `model_dir`: never that of a model which was refused, and never in the way when it is damaged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw
from lightwell.cli.main import main
from lightwell.errors import CheckpointMismatch, UsageError

v1 = tf.compat.v1


def with_layer(units: int) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        hidden = lw.layers.dense(features["x"][:, tf.newaxis], units, name="hidden")
        return tiny.linear({"x": tf.reduce_sum(hidden, 1)}, labels, mode, {})

    return model_fn


@pytest.fixture(scope="module")
def original(tmp_path_factory: Any) -> Path:
    """A model with one layer, trained."""
    directory = Path(tmp_path_factory.mktemp("original")) / "model"
    tiny.estimator(directory, with_layer(3)).train(tiny.data, steps=1)
    return directory


@pytest.fixture
def model_dir(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "model"))


def test_a_training_that_is_refused_leaves_it_alone(model_dir: Path) -> None:
    before = (model_dir / "description.json").read_bytes()
    with pytest.raises(CheckpointMismatch):
        tiny.estimator(model_dir, with_layer(5)).train(tiny.data, steps=1)
    assert (model_dir / "description.json").read_bytes() == before
    assert tiny.estimator(model_dir, with_layer(3)).layers["hidden"].kernel.shape == (1, 3)


def test_one_that_fails_before_it_begins_does_too(model_dir: Path) -> None:
    before = (model_dir / "description.json").read_bytes()

    class Fails(v1.train.SessionRunHook):
        def begin(self) -> None:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tiny.estimator(model_dir, with_layer(5)).train(tiny.data, [Fails()], steps=1)
    assert (model_dir / "description.json").read_bytes() == before


def test_one_that_begins_writes_it_whole(model_dir: Path) -> None:
    (model_dir / "description.json").write_text("old")
    tiny.estimator(model_dir, with_layer(3)).train(tiny.data, steps=1)
    assert json.loads((model_dir / "description.json").read_text())["layers"][0]["name"] == "hidden"
    assert not list(model_dir.glob("*.writing"))


def changed(change: Callable[[Any], Any]) -> Callable[[Path], Any]:
    def act(file: Path) -> None:
        data = json.loads(file.read_text())
        file.write_text(json.dumps(change(data) or data))

    return act


def as_directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "cut short": (lambda file: file.write_text(file.read_text()[:200]), "is damaged ("),
    "empty": (lambda file: file.write_text(""), "is damaged ("),
    "binary": (lambda file: file.write_bytes(bytes(range(256))), "is damaged ("),
    "deep": (lambda file: file.write_text("[" * 100_000), "is damaged ("),
    "a list": (lambda file: file.write_text("[1, 2]"), "is damaged (expected an object with 'format', got list)"),
    "null": (lambda file: file.write_text("null"), "is damaged (expected an object with 'format', got NoneType)"),
    "another object": (lambda file: file.write_text('{"a": 1}'), "is damaged ('format' is missing)"),
    "text for layers": (
        changed(lambda data: data | {"layers": "abc"}),
        "is damaged (layers: expected a list, got str)",
    ),
    "a layer that is text": (
        changed(lambda data: data["layers"].append("x")),
        "is damaged (layers: expected an object",
    ),
    "no outputs": (changed(lambda data: data["layers"][0].pop("outputs") and None), "(layers: 'outputs' is missing)"),
    "a name that is a number": (changed(lambda data: data["layers"][0].update(name=5)), "(layers: name: expected text"),
    "a shape of text": (
        changed(lambda data: data["weights"][0].update(shape="ab")),
        "(weights: shape: expected a list",
    ),
    "a negative size": (
        changed(lambda data: data["weights"][0].update(shape=[-1])),
        "shape: expected a number, got -1)",
    ),
    "an unknown type": (
        changed(lambda data: data["features"][0].update(dtype="odd")),
        "'odd' is no type of TensorFlow",
    ),
    "truth as text": (changed(lambda data: data["weights"][0].update(trainable="yes")), "trainable: expected true or"),
    "newer": (
        changed(lambda data: {"format": 99, "something": "else"}),
        "was written by a newer version of Lightwell (format 99, known up to 1)",
    ),
    "a directory": (as_directory, "is damaged ("),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_one_is_told_and_the_checkpoint_says_what_it_can(
    model_dir: Path, name: str, log: LogLines, capsys: pytest.CaptureFixture[str]
) -> None:
    damage, problem = DAMAGES[name]
    file = model_dir / "description.json"
    damage(file)
    made = tiny.estimator(model_dir, with_layer(3))

    layer = made.layers["hidden"]
    assert layer.kind == "?"
    assert layer.kernel.shape == (1, 3)
    told = log.having(f"WARNING The description of the model, {file}, ")
    assert told
    assert problem in told[0]
    assert told[0].endswith("Going by the names in the checkpoint alone; training writes it anew.")

    assert main(["inspect", str(model_dir)]) == 0
    assert "hidden" in capsys.readouterr().out
    with pytest.raises(UsageError, match=r"no description that can be read\. Pass it: est\.predictor"):
        made.predictor()
    with made.predictor({"x": tiny.X}) as predictor:
        assert np.shape(predictor({"x": tiny.X})["out"]) == (8,)


def test_training_mends_it(model_dir: Path) -> None:
    (model_dir / "description.json").write_text("{")
    made = tiny.estimator(model_dir, with_layer(3))
    made.train(tiny.data, steps=1)
    assert made.layers["hidden"].kind == "Dense"


def test_one_that_cannot_be_written_does_not_stop_a_training(model_dir: Path, log: LogLines) -> None:
    as_directory(model_dir / "description.json")
    made = tiny.estimator(model_dir, with_layer(3)).train(tiny.data, steps=1)
    assert made.evaluate(tiny.once)["global_step"] == 2
    assert log.having(f"WARNING The description of the model cannot be written to {model_dir}/description.json: ")
