"""`lightwell inspect`: a model shown from its files, in 80 columns and as plain data."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import children

import lightwell as lw
from lightwell.cli.inspect_text import chart, number, sparkline
from lightwell.cli.main import main
from lightwell.inside.paths.reductions import Stats, stats_of

v1 = tf.compat.v1
ROOT = Path(__file__).resolve().parents[2]
ORACLE = ROOT / "tests" / "data" / "oracle-2.15.1" / "model_dir"


def _model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    x = lw.layers.dense(features["x"], 3, activation=tf.nn.relu, name="hidden")
    x = lw.layers.dropout(x, 0.5)
    out = lw.layers.dense(x, 1, name="a_layer_with_a_name_that_is_longer_than_most_layers_have_in_practice")
    loss = tf.reduce_mean(tf.square(out - labels))
    step = v1.train.MomentumOptimizer(0.01, 0.9).minimize(loss, v1.train.get_global_step())
    return lw.EstimatorSpec(mode, {"out": out}, loss, step)


def _data() -> Any:
    x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(8, 2)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x[:, :1])).batch(4).repeat()


@pytest.fixture(scope="module")
def made(tmp_path_factory: Any) -> lw.Estimator:
    config = lw.RunConfig(tf_random_seed=3, save_checkpoints_steps=2, save_summary_steps=None)
    directory = tmp_path_factory.mktemp("runs") / "model"
    return lw.Estimator(_model_fn, str(directory), config).train(_data, steps=6)


class Shown:
    """What the command printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *words: str) -> None:
        capsys.readouterr()
        self.code = main(["inspect", *words])
        self.text, self.errors = capsys.readouterr()
        self.lines = self.text.splitlines()

    def after(self, start: str) -> list[str]:
        """The lines that follow the one that starts so, up to an empty one."""
        first = next(i for i, line in enumerate(self.lines) if line.startswith(start))
        rest = [*self.lines[first + 1 :], ""]
        return rest[: rest.index("")]


def test_the_whole_model(made: lw.Estimator, capsys: Any) -> None:
    shown = Shown(capsys, made.model_dir)
    assert shown.code == 0
    assert shown.errors == ""
    assert max(map(len, shown.lines)) == 80
    assert shown.lines[3].split() == ["hidden", "Dense", "?×3", "9"]
    rows = {row.split()[0]: row.split()[1:] for row in shown.after("weight ")[1:]}
    kernel = made.weights["hidden/kernel"]
    assert rows["hidden/kernel"][0] == "2×3"
    expected = [kernel.mean(), kernel.std(), kernel.min(), kernel.max()]
    assert [float(cell) for cell in rows["hidden/kernel"][1:5]] == pytest.approx(expected, rel=1e-3)
    assert rows["hidden/kernel"][5] == "0.0%"
    checkpoints = shown.after("checkpoint ")[1:]
    assert [row.split()[:2] for row in checkpoints] == [[f"model.ckpt-{n}", str(n)] for n in (0, 2, 4, 6)]
    assert [row.endswith("newest") for row in checkpoints] == [False, False, False, True]


def test_a_weight_in_detail_with_its_history(made: lw.Estimator, capsys: Any) -> None:
    shown = Shown(capsys, made.model_dir, "weights/hidden/kernel")
    assert shown.lines[0] == "weights/hidden/kernel, of layers/hidden (Dense)"
    assert shown.lines[1] == "  2×3 float32, trained"
    assert max(map(len, shown.lines)) <= 80
    rows = [line.split() for line in shown.after("    step")]
    steps = [int(row[0]) for row in rows[:-1]]
    assert steps[-3:] == [2, 4, 6]
    for step, row in zip(steps[-3:], rows[-4:-1], strict=True):
        value = made.weights.at(f"{made.model_dir}/model.ckpt-{step}")["hidden/kernel"]
        assert float(row[1]) == pytest.approx(np.linalg.norm(value), rel=1e-3)
        assert float(row[2]) == pytest.approx(value.mean(), rel=1e-3)
        assert "●" in row[3]
    assert rows[-1][0] == "norm"
    assert len(rows[-1][1]) == len(steps)


@pytest.mark.parametrize(
    ("words", "heads"),
    [
        (["layers/hidden"], ["layers/hidden"]),
        (["hidden"], ["layers/hidden"]),
        (["hidden/bias"], ["weights/hidden/bias, of layers/hidden (Dense)"]),
        (["hidden/bias/Momentum"], ["slots/hidden/bias/Momentum"]),
        (["weights/hid*"], [f"weights/hidden/{name}, of layers/hidden (Dense)" for name in ("bias", "kernel")]),
        (["dropout", "features/x", "dropout"], ["layers/dropout", "features/x"]),
        (["predictions/out", "labels"], ["predictions/out", "labels"]),
    ],
    ids=str,
)
def test_what_paths_mean(words: list[str], heads: list[str], made: lw.Estimator, capsys: Any) -> None:
    shown = Shown(capsys, made.model_dir, *words)
    assert shown.code == 0
    assert [line for line in shown.lines if line and not line.startswith(" ")] == heads


def test_a_layer_in_detail(made: lw.Estimator, capsys: Any) -> None:
    lines = Shown(capsys, made.model_dir, "hidden", "dropout").lines
    assert lines[1:5] == ["  kind    Dense", "  input   ?×2", "  output  ?×3", "  params  9"]
    assert "  weights/hidden/bias" in lines
    assert lines[-1] == "  no weights"


def test_plain_data(made: lw.Estimator, capsys: Any) -> None:
    data = json.loads(Shown(capsys, made.model_dir, "--json").text)
    assert data["checkpoint"].endswith("model.ckpt-6")
    assert [layer["path"] for layer in data["description"]["layers"]][:2] == ["layers/hidden", "layers/dropout"]
    kernel = next(weight for weight in data["weights"] if weight["name"] == "hidden/kernel")
    assert kernel["shape"] == [2, 3]
    assert kernel["trainable"] is True
    assert kernel["stats"]["norm"] == pytest.approx(float(np.linalg.norm(made.weights["hidden/kernel"])), rel=1e-5)
    assert [one["step"] for one in data["checkpoints"]][-3:] == [2, 4, 6]
    assert data["checkpoints"][-1]["is_newest"] is True
    assert data["checkpoints"][-1]["size"] > 1000
    (detail,) = json.loads(Shown(capsys, made.model_dir, "hidden/bias", "--json").text)["paths"]
    assert detail["path"] == "weights/hidden/bias"
    assert detail["layer"]["kind"] == "Dense"
    assert [point["step"] for point in detail["history"]["hidden/bias"]][-3:] == [2, 4, 6]


def test_one_checkpoint(made: lw.Estimator, capsys: Any) -> None:
    prefix = f"{made.model_dir}/model.ckpt-4"
    data = json.loads(Shown(capsys, prefix, "--json").text)
    assert data["checkpoint"] == prefix
    bias = next(weight for weight in data["weights"] if weight["name"] == "hidden/bias")
    assert bias["stats"]["mean"] == pytest.approx(float(made.weights.at(prefix)["hidden/bias"].mean()), rel=1e-6)
    shown = Shown(capsys, f"{made.model_dir}/model.ckpt-5")
    assert shown.code == 2
    assert "does not exist" in shown.errors
    assert "model.ckpt-6" in shown.errors


def test_a_model_dir_of_tf_estimator(capsys: Any) -> None:
    shown = Shown(capsys, str(ORACLE))
    assert shown.code == 0
    assert max(map(len, shown.lines)) == 80
    assert "195 parameters; 10 variables of optimizer state" in shown.lines
    weight = Shown(capsys, str(ORACLE), "hidden/kernel")
    assert weight.lines[:2] == ["weights/hidden/kernel, of layers/hidden", "  8×16 float32"]
    assert [row.split()[0] for row in weight.after("    step")] == ["15", "30", "norm"]
    assert json.loads(Shown(capsys, str(ORACLE), "--json").text)["weights"][0]["trainable"] is None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("weights/hiden/kernel", "'weights/hiden/kernel' names nothing in "),
        ("weights/hiden/kernel", "Did you mean weights/hidden/kernel"),
        ("hidden/kernal", "Did you mean weights/hidden/kernel"),
        ("layers/Hidden", "Did you mean layers/hidden?"),
        ("weights/hidden", "Did you mean weights/hidden/*"),
        ("zzz", "It has layers/hidden, layers/dropout, "),
        (
            "gradients/weights/hidden/kernel",
            "exists only while the model runs. Read it with lightwell.Watch('gradients/",
        ),
        ("loss", "exists only while the model runs"),
    ],
)
def test_an_unknown_path(path: str, text: str, made: lw.Estimator, capsys: Any) -> None:
    shown = Shown(capsys, made.model_dir, path)
    assert shown.code == 2
    assert shown.text == ""
    assert shown.errors.startswith("lightwell inspect: ")
    assert text in shown.errors


def test_not_a_model_dir(made: lw.Estimator, capsys: Any) -> None:
    parent = Path(made.model_dir).parent
    wrong = {"modle": "is neither a directory nor a checkpoint", "": "holds no checkpoint"}
    for name, problem in wrong.items():
        shown = Shown(capsys, str(parent / name))
        assert shown.code == 2
        assert (
            f"{parent / name} {problem}; expected the model_dir of a training, or a checkpoint in one" in shown.errors
        )
        assert f"Directories nearby that have checkpoints: {made.model_dir}" in shown.errors
    assert "no/such/place does not exist; expected" in Shown(capsys, str(parent / "no" / "such" / "place")).errors


def test_nothing_nearby(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "alone" / "empty").mkdir(parents=True)
    shown = Shown(capsys, str(tmp_path / "alone" / "empty"))
    assert shown.code == 2
    assert "No directory nearby has any." in shown.errors


def test_a_model_that_was_only_described(made: lw.Estimator, tmp_path: Path, capsys: Any) -> None:
    shutil.copy(Path(made.model_dir) / "description.json", tmp_path)
    shown = Shown(capsys, str(tmp_path))
    assert shown.code == 0
    assert shown.lines[-1] == "No checkpoint has been written yet."
    assert Shown(capsys, str(tmp_path), "hidden").code == 0


def test_checkpoints_without_their_state_file(made: lw.Estimator, tmp_path: Path, capsys: Any) -> None:
    for file in Path(made.model_dir).glob("model.ckpt-[46].*"):
        shutil.copy(file, tmp_path / file.name.replace("ckpt-6", "final"))
    shown = Shown(capsys, str(tmp_path))
    assert [row.split()[0] for row in shown.after("checkpoint ")[1:]] == ["model.final", "model.ckpt-4"]
    assert "layers are guessed from the names of variables" in shown.text
    data = json.loads(Shown(capsys, str(tmp_path / "model.final.index"), "hidden/bias", "--json").text)
    assert data["paths"][0]["weights"][0]["stats"]["mean"] == pytest.approx(float(made.weights["hidden/bias"].mean()))


def test_a_checkpoint_of_objects(tmp_path: Path, capsys: Any) -> None:
    """`tf.train.Checkpoint` writes keys of another kind, and a string without a shape."""
    weight = tf.Variable([3.0, 4.0])
    tracked = tf.train.Checkpoint(net=tf.train.Checkpoint(w=weight), label=tf.Variable("hello"), on=tf.Variable(True))
    tf.train.CheckpointManager(tracked, str(tmp_path), max_to_keep=2).save()
    weight.assign([6.0, 8.0])
    tracked.write(str(tmp_path / "written"))
    shown = Shown(capsys, str(tmp_path))
    rows = [row.split() for row in shown.after("weight ")[1:]]
    assert rows == [
        ["label", "scalar", "string"],
        ["net/w", "2", "3.5", "0.5", "3", "4", "0.0%"],
        ["on", "scalar", "1", "0", "1", "1", "0.0%"],
        ["save_counter", "scalar", "1", "0", "1", "1", "0.0%"],
    ]
    assert json.loads(Shown(capsys, str(tmp_path), "--json").text)["weights"][0]["stats"] is None
    assert Shown(capsys, str(tmp_path), "label").lines == ["weights/label", "  scalar string"]
    detail = Shown(capsys, str(tmp_path / "written"), "net/w")
    assert "norm 10 " in detail.lines[2]
    assert [row.split()[:2] for row in detail.after("    step")[:2]] == [["?", "10"], ["1", "5"]]


def test_weights_that_are_not_finite(tmp_path: Path, capsys: Any) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        variable = v1.get_variable("w", initializer=np.float32([1, 2]))
        v1.get_variable("names", initializer=tf.constant(["a", "b"]))
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver()
        saver.save(session, str(tmp_path / "model.ckpt"), global_step=1)
        session.run(variable.assign([np.nan, np.inf]))
        saver.save(session, str(tmp_path / "model.ckpt"), global_step=2)
    shown = Shown(capsys, str(tmp_path))
    assert next(line for line in shown.lines if line.startswith("w ")).split()[1:3] == ["2", "nan"]
    assert next(line for line in shown.lines if line.startswith("names")).split() == ["names", "2", "string"]
    lines = Shown(capsys, str(tmp_path), "w").after("    step")
    assert "●" in lines[0]
    assert lines[1].endswith("not finite")
    assert lines[2].endswith("!")
    assert json.loads(Shown(capsys, str(tmp_path), "--json").text)["weights"][1]["stats"]["mean"] is None


def test_a_long_history_is_thinned_out(tmp_path: Path, capsys: Any) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        variable = v1.get_variable("w", initializer=np.float32([0, 1]))
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(max_to_keep=None)
        for step in range(1, 46):
            saver.save(session, str(tmp_path / "model.ckpt"), global_step=step, write_meta_graph=False)
            session.run(variable.assign_add([0.0, 1.0]))
    rows = Shown(capsys, str(tmp_path), "w").after("    step")
    steps = [int(row.split()[0]) for row in rows[:-1]]
    assert len(steps) == 20
    assert steps[0] == 1
    assert steps[-1] == 45
    assert len(rows[-1].split()[1]) == 45
    assert max(map(len, rows)) <= 80


def test_it_loads_quietly_by_itself(made: lw.Estimator) -> None:
    environment = {name: value for name, value in children.environment().items() if not name.startswith("TF_")}
    ran = subprocess.run(
        [sys.executable, "-m", "lightwell", "inspect", made.model_dir, "nothing_like_this"],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert len(ran.stderr.splitlines()) == 1


def _stats(mean: float, std: float) -> Stats:
    return Stats(mean, std, 0, 0, 0, 0, 0)


def test_the_chart() -> None:
    assert chart([_stats(0, 1), _stats(1, 1)], 13) == ["├───●───┤", "    ├───●───┤"]
    assert chart([_stats(5, 0)], 13) == ["●"]
    assert chart([_stats(float("nan"), 0)], 13) == ["not finite"]
    assert sparkline([0, 7, 3.5]) == "▁█▅"
    assert sparkline([2, 2]) == "▁▁"
    assert sparkline([float("nan"), 1]) == "!▁"
    assert [number(x) for x in (0, 1.23456, 1e-9, 123456)] == ["0", "1.235", "1e-09", "1.235e+05"]
    assert stats_of([3.0]).std == 0


def test_lineage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests import tiny

    est = tiny.trained(tmp_path)
    with est.edit("by hand") as w:
        w["w"][...] = 4
    assert main(["inspect", "--lineage", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[0].split() == ["checkpoint", "parent", "when", "hash", "how"]
    assert "* model.ckpt-edit1-2  model.ckpt-2" in shown
    assert "edited: by hand\n    weights/w changed: 1 of 1 numbers, by" in shown
    assert main(["inspect", "--lineage", "--json", str(tmp_path)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads(json.dumps(est.lineage().to_dict()))
    assert told["newest"] == "model.ckpt-edit1-2"
    assert main(["inspect", "--lineage", str(tmp_path / "nowhere")]) == 2
