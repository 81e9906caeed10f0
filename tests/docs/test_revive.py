"""`docs/revive-an-old-program.md` is true: its commands and blocks of code run, every symptom looks like that."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.cli.test_runner import run
from tests.docs import page
from tests.programs.batch import Batch

import lightwell as lw
from lightwell.base.public_names import ROWS
from lightwell.cli.main import main as lightwell_command
from lightwell.compat.contrib.learn.datasets import mnist
from lightwell.tf1 import contrib

PAGE = page.read("revive-an-old-program.md")
RECORDED = Path(__file__).parents[1] / "data" / "oracle-1.15.5"
SYMPTOMS = PAGE.first_column("By symptom")
OLD_PACKAGE = "from tensorflow.python.estimator.canned.head import _Head\n\n\nclass Head(_Head):\n    name = 'mine'\n"
OLD_INSTALLED = """
import pathlib, sys
folder = pathlib.Path(__file__).parent / "site-packages"
folder.mkdir()
(folder / "its_package.py").write_text("import numpy as np\\nnp.int(1)")
sys.path.insert(0, str(folder))
import its_package
"""
v1 = tf.compat.v1


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Command line -> what it did; the blocks of Python last, as `snippets.py`. One process runs all."""
    place = tmp_path_factory.mktemp("revive")
    (place / "my_project").mkdir()
    for file in ("train.py", "my_project/train.py"):
        (place / file).write_text(PAGE.file("train.py"))
    cells = ["%matplotlib inline\n!pip install tensorflow==1.15\n", PAGE.file("train.py")]
    notebook = {"cells": [{"cell_type": "code", "source": [cell]} for cell in cells], "nbformat": 4}
    (place / "first_steps.ipynb").write_text(json.dumps(notebook))
    (place / "old_package.py").write_text(OLD_PACKAGE)
    (place / "snippets.py").write_text("\n".join(PAGE.snippets()) + "\nprint(est.weights['dense/kernel'].shape)\n")
    shutil.copytree(RECORDED / "revive_model_dir", place / "runs" / "old")
    commands = {" ".join(command.words): command.words for command in PAGE.commands()}
    return Batch(place, {**commands, "snippets": ("python", "snippets.py")}).outcomes()


@pytest.mark.parametrize("command", PAGE.commands(), ids=lambda command: " ".join(command.words))
def test_a_command_does_what_its_comment_says(outcomes: dict[str, Any], command: page.Command) -> None:
    outcome = outcomes[" ".join(command.words)]
    if command.words[0] == "python":
        assert outcome["code"] == 1
        assert command.comment in outcome["err"]
        return
    assert outcome["code"] == 0, outcome["err"]
    if command.words[1] == "doctor":
        assert outcome["out"].rstrip().endswith(command.comment)
    elif command.words[1] == "run":
        assert outcome["out"].startswith("evaluated: {'error': ")
        end = command.comment.rpartition("..., ")[2] if command.comment.startswith("evaluated") else ""
        assert outcome["out"].rstrip().endswith(end)
    else:
        assert "dense/kernel" in outcome["out"]


def test_the_doctor_says_what_the_page_shows(outcomes: dict[str, Any]) -> None:
    (shown,) = PAGE.blocks("text")
    said = outcomes["lightwell doctor train.py"]["out"].splitlines()
    expected = re.sub(r"TensorFlow 2[.\d]+ is here", f"TensorFlow {tf.__version__} is here", shown).splitlines()
    assert [line for line in expected if line.strip() != "..." and line not in said] == []


def test_a_notebook_names_what_it_skips(outcomes: dict[str, Any]) -> None:
    said = outcomes["lightwell run first_steps.ipynb --model_dir runs/notebook"]["err"]
    assert "lightwell run: first_steps.ipynb, cell 1, line 1: skipped %matplotlib inline" in said
    assert "lightwell run: first_steps.ipynb, cell 1, line 2: skipped !pip install tensorflow==1.15" in said


def test_the_old_model_dir_goes_on_where_it_was(outcomes: dict[str, Any]) -> None:
    recorded = json.loads((RECORDED / "revive.json").read_text())
    printed = outcomes["lightwell run train.py --model_dir runs/old"]["out"].partition(": ")[2]
    assert recorded["tensorflow"] == "1.15.5"
    assert ast.literal_eval(printed) == pytest.approx(recorded["second"], rel=1e-4)


def test_the_blocks_of_python_run(outcomes: dict[str, Any]) -> None:
    outcome = outcomes["snippets"]
    assert outcome["code"] == 0, outcome["err"]
    assert outcome["out"] == "(4, 16)\n"


def test_every_way_in_is_on_the_page() -> None:
    assert [command.words[:2] for command in PAGE.commands()].count(("lightwell", "run")) == 8
    assert len(PAGE.snippets()) == 5


class Mistake(v1.train.SessionRunHook):  # type: ignore[misc]
    """Asks for what a function says, at each step."""

    def __init__(self, ask: Callable[[], Any]) -> None:
        self.ask = ask

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(self.ask())


def _fork(trained: Path) -> None:
    """Evaluate in a process that is forked from this one, which has opened sessions; raises what it raised there."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of a fork beside threads, for the reason that we give
        child = os.fork()
    if not child:
        try:
            tiny.estimator(trained).evaluate(tiny.once)
        except BaseException as error:
            os.write(writing, str(error).encode())
        os._exit(0)
    os.waitpid(child, 0)
    raise RuntimeError(os.read(reading, 4096).decode())


def _made_outside() -> Callable[[], Any]:
    with tf.Graph().as_default():
        dataset = tiny.data()
    return lambda: dataset


def _another_model(features: Any, labels: Any, mode: str) -> Any:
    v1.get_variable("other", [3])
    return tiny.linear(features, labels, mode, {})


def _run(folder: Path, source: str) -> None:
    (folder / "old.py").write_text(source)
    raise RuntimeError(run("old.py", cwd=folder)[2])


def _train(folder: Path, hook: Any) -> None:
    tiny.estimator(folder).train(tiny.data, steps=1, hooks=[hook])


# Symptom -> what brings it about, given an empty folder and the folder of a trained model.
TRIGGERS: dict[str, Callable[[Path, Path], Any]] = {
    "module 'tensorflow' has no attribute 'estimator'": lambda empty, trained: tf.estimator,
    "No module named 'tensorflow_estimator'": lambda empty, trained: __import__("tensorflow_estimator"),
    "No module named 'tensorflow.python.estimator'": lambda empty, trained: __import__("tensorflow.python.estimator"),
    "module 'tensorflow' has no attribute 'layers'": lambda empty, trained: tf.layers,
    "has no attribute 'AdamOptimizer'": lambda empty, trained: tf.train.AdamOptimizer,
    "`dense` is not available with Keras 3.": lambda empty, trained: v1.layers.dense,
    "No module named 'tensorflow.contrib'": lambda empty, trained: __import__("tensorflow.contrib"),
    "tf.contrib.boosted_trees.learner_pb2 is gone": lambda empty, trained: contrib.boosted_trees.learner_pb2,
    "was removed from NumPy": lambda empty, trained: _run(empty, OLD_INSTALLED),
    "was forked from one": lambda empty, trained: _fork(trained),
    "This is Python 2": lambda empty, trained: _run(empty, "print 'x'"),
    "wants these files of MNIST": lambda empty, trained: mnist.read_data_sets(str(empty)),
    "does not exist in Lightwell": lambda empty, trained: lw.compat.v1.estimator.tpu.experimental.EmbeddingConfigSpec,
    "does not fit this model": lambda empty, trained: tiny.estimator(trained, _another_model).evaluate(tiny.once),
    "Could not find trained model in model_dir": lambda empty, trained: tiny.estimator(empty).evaluate(tiny.once),
    "Nothing to warm-start": lambda empty, trained: tiny.estimator(
        empty, warm_start_from=lw.WarmStartSettings(str(trained), "zzz")
    ).train(tiny.data, steps=1),
    "made outside input_fn": lambda empty, trained: tiny.estimator(empty).train(_made_outside(), steps=1),
    "Subclasses of Estimator cannot override": lambda empty, trained: type("Mine", (lw.Estimator,), {"train": None}),
    "names nothing in this model": lambda empty, trained: _train(empty, Mistake(lambda: "features/y")),
    "is empty. The nearest is": lambda empty, trained: _train(empty, Mistake(lambda: v1.get_collection("variable")[0])),
    "Graph is finalized and cannot be modified": lambda empty, trained: _train(empty, Mistake(lambda: tf.constant(1))),
    "lightwell run: can't open file": lambda empty, trained: lightwell_command(["run", str(empty / "absent.py")]),
}


def test_every_symptom_has_its_trigger() -> None:
    assert list(TRIGGERS) == SYMPTOMS


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    tiny.trained(folder)
    return folder


@pytest.mark.parametrize("symptom", SYMPTOMS)
def test_a_symptom_looks_like_that(
    symptom: str, tmp_path: Path, trained: Path, log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        TRIGGERS[symptom](tmp_path, trained)
    except Exception as error:
        seen = str(error)
    else:
        seen = "\n".join([*log.lines, capsys.readouterr().err])
    assert symptom in seen


def test_what_is_said_not_to_be_there_is_not() -> None:
    absent = {row.name: bool(row.absent) for rows in ROWS.values() for row in rows}
    cells = " ".join(PAGE.first_column("Not there yet"))
    named = [name.rpartition(".")[2] for name in re.findall(r"[\w.]+", cells)]
    assert "EmbeddingConfigSpec" in named
    there = [name for name in named if not absent.get(name, True) or hasattr(lw.Estimator, name)]
    assert there == [], "take these off the page"
