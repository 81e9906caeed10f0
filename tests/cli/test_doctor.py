"""`lightwell doctor` says what becomes of every name, without running the program and without loading TensorFlow."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tensorflow
from tests import children
from tests.cli.test_notebooks import write as write_notebook
from tests.cli.test_runner import write

from lightwell.cli import installed_names
from lightwell.cli.doctor_names import State, judge
from lightwell.cli.main import main
from lightwell.compat.retired import CONTRIB
from lightwell.compat.tf1.spelling import Version

ORIGINAL = json.loads((Path(__file__).parents[1] / "data/oracle-1.15.5/namespace.json").read_text())
PROGRAM = """\
import numpy as np
import tensorflow as tf
from tensorflow.contrib import boosted_trees
from tensorflow.contrib import rnn as R
import helper
est, train = tf.estimator, tf.train
if hasattr(tf, 'nonsense'):
    tf.nonsense()
raise SystemExit('never run')

def model_fn(features, labels, mode):
    layers = []
    layers.append(R.LSTMCell(3))
    x = tf.layers.dense(features, 3)
    x = tf.layers.dense(x, 3)
    train.AdamOptimizer(0.1)
    return est.EstimatorSpec(mode, loss=tf.reduce_mean(x), train_op=getattr(tf, 'no_op')())
"""


def doctor(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    code = main(["doctor", "--json", *words])
    return code, json.loads(capsys.readouterr().out)


def states(report: Any) -> dict[str, str]:
    return {row["name"]: row["state"] for row in report["names"]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_name_is_listed_with_its_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        folder, {"train.py": PROGRAM, "helper.py": "import tensorflow as tf\ntf.estimator.RunConfig\n", "other.py": "1"}
    )
    code, report = doctor(capsys, "train.py")
    assert (code, report["version"], report["files"]) == (0, "1", ["train.py", "helper.py"])
    assert states(report) == {
        "tf.nonsense": "absent",
        "tf.contrib.boosted_trees": "lightwell",
        "tf.contrib.rnn": "lightwell",
        "tf.contrib.rnn.LSTMCell": "lightwell",
        "tf.estimator.EstimatorSpec": "lightwell",
        "tf.estimator.RunConfig": "lightwell",
        "tf.layers.dense": "lightwell",
        "tf.train.AdamOptimizer": "lightwell",
        "tf.no_op": "tensorflow",
        "tf.reduce_mean": "tensorflow",
    }
    rows = {row["name"]: row for row in report["names"]}
    assert (rows["tf.layers.dense"]["first"], rows["tf.layers.dense"]["uses"]) == ("train.py:14", 2)
    assert rows["tf.estimator.RunConfig"]["first"] == "helper.py:2"
    assert rows["tf.train.AdamOptimizer"]["advice"] == "tf.compat.v1.train.AdamOptimizer"
    assert rows["tf.nonsense"]["checked"]


def test_what_stops_a_program_makes_it_fail(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = "import tensorflow as tf\nimport not_installed\ntf.contrib.tensor_forest.x()\ntf.estimator.KMeans_\n"
    write(folder, {"train.py": source})
    code = main(["doctor", "train.py"])
    out = capsys.readouterr().out
    assert code == 1
    assert "absent: these stop the program (2)" in out
    assert "decision forest library" in out
    assert "not installed: pip install not_installed" in out
    assert "2 names of TensorFlow: 0 in TensorFlow, 0 from Lightwell, 2 absent." in out
    assert out.rstrip().endswith("3 things stop it; begin with the first table.")


def test_python_2_and_old_numpy_are_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = """\
import cPickle
try:
    import urllib2
except ImportError:
    import urllib.request as urllib2
import six
import numpy as np
import tensorflow as tf
for k, v in {}.iteritems(): pass
six.iteritems({})
print "x", tf.placeholder(1)
np.int(3)
np.int(4)
"""
    write(folder, {"train.py": source})
    code, report = doctor(capsys, "train.py")
    assert code == 1
    problems = {(one["kind"], one["what"], one["first"], one["uses"]) for one in report["problems"]}
    assert problems == {
        ("python", "syntax of Python 2", "train.py:11", 1),
        ("python", ".iteritems()", "train.py:9", 1),
        ("python", "import cPickle", "train.py:1", 1),
        ("numpy", "np.int", "train.py:12", 2),
    }
    assert states(report) == {"tf.placeholder": "lightwell"}
    write(folder, {"train.py": "import numpy as np\nnp.int(3)"})
    assert main(["doctor", "train.py"]) == 0, "a run brings it"
    out = capsys.readouterr().out
    assert "removed from NumPy (1)\n  np.int  train.py:2  1  removed in NumPy 1.24; lightwell run gives it" in out
    assert out.rstrip().endswith("Next: lightwell run train.py")
    write(folder, {"train.py": "print 'x'\nxrange(3)"})
    assert main(["doctor", "train.py"]) == 1
    assert "Next: lightwell run --old-python train.py" in capsys.readouterr().out


def test_a_folder_a_module_and_a_notebook(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, {"pkg/__init__.py": "", "pkg/train.py": "from . import model", "venv/lib.py": "1"})
    write(folder, {"pkg/model.py": "import tensorflow as tf\ntf.placeholder(1)\n"})
    write_notebook(folder / "pkg", "%matplotlib inline", "import tensorflow as tf\n\ntf.Session()")
    code, report = doctor(capsys, "-m", "pkg.train")
    assert (code, report["files"]) == (0, ["pkg/train.py", "pkg/model.py", "pkg/__init__.py"])
    assert states(report) == {"tf.placeholder": "lightwell"}
    code, report = doctor(capsys, ".")
    assert report["files"] == ["pkg/__init__.py", "pkg/model.py", "pkg/train.py", "pkg/work.ipynb"]
    code, report = doctor(capsys, "pkg/work.ipynb")
    assert [row["first"] for row in report["names"]] == ["pkg/work.ipynb:cell 2:3"]
    assert main(["doctor", "absent.py"]) == 2
    assert "can't open file" in capsys.readouterr().err


def test_which_programs_of_a_repository_will_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "models/train.py": "from models import net\nif __name__ == '__main__':\n    net.build()\n",
        "models/__init__.py": "",
        "models/net.py": "import tensorflow as tf\ndef build():\n    return tf.placeholder(tf.float32)\n",
        "models/trees.py": "import tensorflow as tf\nimport helper\ntf.contrib.boosted_trees.x()\n",
        "models/helper.py": "import not_installed\n",
        "tools/old.py": "print 'x'\n",
        "tools/more.py": "import not_installed\nmain = print\nmain()\n",
        "setup_flags.py": "import tensorflow as tf\ntf.flags.DEFINE_string('a', 'b', 'c')\n",
    }
    write(folder, files)
    code, report = doctor(capsys, ".")
    assert code == 1
    judged = {one["file"]: (one["runs"], one["needs_old_python"]) for one in report["programs"]}
    assert judged == {
        "models/train.py": (True, False),
        "models/trees.py": (False, False),
        "tools/more.py": (False, False),
        "tools/old.py": (True, True),
    }
    assert [(one["what"], one["programs"]) for one in report["reasons"]] == [
        ("not_installed", ["models/trees.py", "tools/more.py"]),
        ("tf.contrib.boosted_trees.x", ["models/trees.py"]),
    ]
    main(["doctor", "."])
    out = capsys.readouterr().out
    assert "2 of 4 programs will run (50%), 1 of them with --old-python.\n     2 stop at not_installed" in out


def test_today_s_spelling(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = "import tensorflow as tf\ntf.random.set_seed(1)\ntf.estimator.Estimator\ntf.compat.v1.layers.dense\n"
    write(folder, {"train.py": source + "tf.keras.layers.DenseFeatures\ntf.keras.layers.Dense\ntf.compat.v1.Session\n"})
    code, report = doctor(capsys, "train.py")
    assert (code, report["version"]) == (0, "2")
    lightwell = ["tf.compat.v1.layers.dense", "tf.estimator.Estimator", "tf.keras.layers.DenseFeatures"]
    assert [name for name, state in states(report).items() if state == "lightwell"] == lightwell


def test_it_is_quick_and_loads_no_tensorflow(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": PROGRAM, "helper.py": ""})
    script = (
        "import sys; from lightwell.cli.main import main; main(['doctor', 'train.py']);"
        "assert not {'tensorflow', 'keras', 'tf_slim'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=children.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "tf.layers.dense" in done.stdout


def test_the_pages_on_disk_are_those_of_the_loaded_tensorflow() -> None:
    v1 = tensorflow.compat.v1
    wrong = []
    for path, names in ORIGINAL["names"].items():
        if path.split(".")[0] in {"estimator", "lite", "layers"} or path == "nn.rnn_cell":
            continue
        for root, where in ((v1, f"compat.v1.{path}".rstrip(".")), (tensorflow, path)):
            page: Any = root
            for part in filter(None, path.split(".")):
                page = getattr(page, part, None)
            if page is None or type(page).__name__.endswith("LazyLoader"):
                continue
            there = {name for name in names if hasattr(page, name)}
            wrong += [f"{where}.{name}" for name in names if installed_names.has_name(where, name) != (name in there)]
    keras = tensorflow.keras.layers
    wrong += [name for name in dir(keras) if name[0].isupper() and not installed_names.has_name("keras.layers", name)]
    assert wrong == []


def test_every_cell_of_contrib_is_judged_as_a_run_would() -> None:
    for namespace, cells in CONTRIB.items():
        for name, cell in cells.items():
            if name and cell and not cell.startswith(("!", "?")):
                verdict = judge(f"tensorflow.contrib.{namespace}.{name}", Version.TF1)
                assert verdict.state in (State.LIGHTWELL, State.ABSENT)
    assert judge("tensorflow.contrib.tpu.TPUEstimator", Version.TF1).state is State.LIGHTWELL
    assert judge("tensorflow.contrib.boosted_trees.x", Version.TF1).state is State.ABSENT


def test_a_namespace_of_tensorflow_1_has_no_names_of_today_s() -> None:
    for name in ("tensorflow.losses.Huber", "tensorflow.train.CheckpointView", "tensorflow.summary.create_file_writer"):
        assert judge(name, Version.TF1).state is State.ABSENT, name
        assert judge(name, Version.TF2).state is State.TENSORFLOW, name
    assert judge("tensorflow.get_static_value", Version.TF1).state is State.TENSORFLOW


def test_private_modules() -> None:
    lookups = {
        "tensorflow.python.ops.array_ops.shape": State.TENSORFLOW,
        "tensorflow.python.ops.array_ops.no_such_name": State.ABSENT,
        "tensorflow.python.no_such_module": State.ABSENT,
        "tensorflow.python.ops.math_ops.add": State.TENSORFLOW,
        "tensorflow.python.ops.nn.relu": State.TENSORFLOW,  # by `import *`
        "tensorflow.core.example.example_pb2.Example": State.TENSORFLOW,  # in a descriptor
        "tensorflow.core.example.example_pb2.NoSuchMessage": State.ABSENT,
        "tensorflow.core.framework.types_pb2.DT_FLOAT": State.TENSORFLOW,
        "tensorflow.python.keras.initializers.Constant": State.TENSORFLOW,  # by globals()
        "tensorflow.python.estimator.canned.head._Head": State.LIGHTWELL,
        "tensorflow_estimator.python.estimator.estimator.Estimator": State.LIGHTWELL,
        "tensorflow.contrib.layers.python.layers.utils": State.LIGHTWELL,
    }
    assert {name: judge(name, Version.TF1).state for name in lookups} == lookups
