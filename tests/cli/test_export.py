"""`lightwell export`: from a model_dir, a SavedModel or a program's code, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import children

from lightwell.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
import numpy as np
import tensorflow as tf

def model_fn(features, labels, mode, params):
    hidden = tf.layers.dense(features["x"], 8, tf.nn.relu)
    logits = tf.layers.dense(hidden, params["classes"])
    predictions = {"probabilities": tf.nn.softmax(logits), "class": tf.argmax(logits, 1)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op)

def input_fn():
    x = np.random.RandomState(0).randn(100, 4).astype("f")
    return tf.data.Dataset.from_tensor_slices(({"x": x}, (x[:, 0] > 0).astype("i8"))).batch(10)

def estimator():
    return tf.estimator.Estimator(model_fn, "runs/digits", params={"classes": 3})

number = 3

if __name__ == "__main__":
    made = estimator()
    made.train(input_fn, steps=5)
    if "export" in sys.argv:
        made.export_saved_model("runs/digits/export/mine")
        made.train(input_fn, steps=5)
"""


@dataclass(frozen=True)
class Printed:
    code: int
    out: str
    errors: str


def lightwell(folder: Path, *words: str) -> Printed:
    environment = children.environment()
    for setting in ("TF_CPP_MIN_LOG_LEVEL", "TF_ENABLE_ONEDNN_OPTS"):  # as at a user's, who set nothing
        environment.pop(setting, None)
    command = [sys.executable, "-m", "lightwell", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return Printed(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    """A user's folder: a program of TensorFlow 1, a model_dir, rows."""
    place: Path = tmp_path_factory.mktemp("user")
    (place / "train.py").write_text(PROGRAM)
    assert lightwell(place, "run", "train.py", "export").code == 0
    np.savez(place / "rows.npz", x=np.ones([3, 4]), label=[1, 2, 3])
    return place


def test_the_newest_saved_model_becomes_tflite(folder: Path) -> None:
    shown = lightwell(folder, "export", "runs/digits", "--to", "tflite", "--rows", "rows.npz")
    assert shown.code == 0, shown.errors
    (version,) = (folder / "runs/digits/export/mine").iterdir()
    lines = shown.out.splitlines()
    assert lines[0].startswith("tflite: runs/digits/export/tflite/model.tflite (")
    assert lines[1] == f"  from     runs/digits/export/mine/{version.name}, signature serving_default"
    assert lines[2] == "  checked  3 rows of rows.npz"
    assert [line.split()[0] for line in lines[3:]] == ["class", "probabilities"]
    assert max(map(len, lines)) <= 100
    assert shown.errors.splitlines() == [
        f"lightwell export: note: runs/digits/export/mine/{version.name} is of step 5; runs/digits/model.ckpt-10 is "
        "newer. --model train:model_fn exports that."
    ], "and not a word of TensorFlow's"
    assert (folder / "runs/digits/export/tflite/model.tflite").is_file()


def test_a_checkpoint_with_the_code_of_its_model(folder: Path) -> None:
    common = ("--model", "train:model_fn", "--params", '{"classes": 3}', "--rows", "train:input_fn", "--out", "out")
    shown = lightwell(folder, "export", "runs/digits", "--to", "saved_model", *common)
    assert shown.code == 0, shown.errors
    assert "from     runs/digits/model.ckpt-10, signature serving_default" in shown.out
    assert "checked  100 rows of input_fn" in shown.out
    assert shown.out.count("equal") == 2
    (version,) = (folder / "out").iterdir()
    again = lightwell(folder, "export", f"out/{version.name}", "--to", "tflite", "--rows", "train.py:input_fn")
    assert again.code == 0, again.errors
    assert (folder / "out" / f"{version.name}.tflite").is_file(), "beside the SavedModel, not in it"


def test_a_function_that_makes_the_estimator(folder: Path) -> None:
    shown = lightwell(
        folder, "export", "runs/digits", "--to", "tflite", "--model", "train:estimator", "--out", "m.tflite"
    )
    assert shown.code == 0, shown.errors
    assert "made-up rows" in shown.out


MISTAKES = {
    "--to tflite --model trian:model_fn": "--model: there is no module 'trian'. Modules are looked for in ",
    "--to tflite --model train:modelfn": "train has no 'modelfn'. The nearest names are ['model_fn'].",
    "--to tflite --model train:number": "expected a model_fn, an Estimator, or a function that makes one, got int",
    "--to saved_model": "is a SavedModel already. To export the newest checkpoint, name the model's code: --model",
    "--to tflite --model train": "--model train: expected module:name, as in train:model_fn.",
    "--to tflite --model train:model_fn --params {x": "--params: expected JSON, or a file of it: ",
    "--to tflite --rows nowhere.npz": "rows: nowhere.npz cannot be read: ",
    "--to tflite --rows train.py": "rows: train.py has none of the endings .npz, .npy, .csv, .json, .jsonl",
}
# All in one process, as each would import TensorFlow anew.
_MAKE_ALL = """
import contextlib, io, json, sys
from lightwell.cli.main import main
told = {}
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(["export", "runs/digits", *words.split()])
    told[words] = [code, out.getvalue(), errors.getvalue()]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(folder: Path) -> dict[str, Any]:
    environment = children.environment()
    command = [sys.executable, "-c", _MAKE_ALL, json.dumps(list(MISTAKES))]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("words", MISTAKES)
def test_mistakes_are_told(told: dict[str, Any], words: str) -> None:
    code, out, errors = told[words]
    assert code == 2
    assert out == ""
    assert MISTAKES[words] in errors
    assert len(errors.splitlines()) == 1


def test_weights_alone_are_no_model(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in (folder / "runs/digits").iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    assert main(["export", str(tmp_path), "--to", "tflite"]) == 2
    errors = capsys.readouterr().err
    assert (
        "holds weights and no SavedModel, and weights alone are no model: its code is needed. Name it, as in" in errors
    )


def test_nothing_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path), "--to", "tflite"]) == 2
    assert "holds neither a SavedModel nor a checkpoint; expected the model_dir" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "nowhere"), "--to", "tflite"]) == 2
    assert "nowhere does not exist; expected the model_dir of a training" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["export", "x"], "the following arguments are required: --to"),
        (["export", "x", "--to", "keras"], "invalid choice: 'keras'"),
        (["export", "x", "--to", "tflite", "--params", "{}"], "--params and --checkpoint go with --model"),
    ],
)
def test_a_wrong_command_line(words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(words)
    assert leaving.value.code == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "npy"])
def test_rows_of_any_file(folder: Path, tmp_path: Path, form: str) -> None:
    """Read in this process: how they get to the model is the same for all."""
    from lightwell.estimator.export.conversions.rows import read_rows

    file, rows = tmp_path / f"rows.{form}", [{"a": 1.5, "b": "x"}, {"a": 2.0, "b": "y"}]
    if form == "npy":
        np.save(file, np.ones([2, 3]))
        assert read_rows(str(file)).shape == (2, 3)
        return
    texts = {
        "csv": "a,b\n1.5,x\n2.0,y\n",
        "json": json.dumps(rows),
        "jsonl": "\n".join(map(json.dumps, rows)),
    }
    file.write_text(texts[form])
    read = read_rows(str(file))
    assert [float(one) for one in read["a"]] == [1.5, 2.0]
    assert read["b"] == ["x", "y"]
