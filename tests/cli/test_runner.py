"""`lightwell run` runs a program as python does, with the doors open."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests import children

PROGRAMS = Path(__file__).parents[1] / "data" / "programs"


def start(*words: str, cwd: Path, path: Sequence[Path] = ()) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "lightwell", "run", *words],
        cwd=cwd,
        env=children.environment(*path, TF_CPP_MIN_LOG_LEVEL="3", PYTHONDONTWRITEBYTECODE="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*words: str, cwd: Path, path: Sequence[Path] = ()) -> tuple[int, str, str]:
    process = start(*words, cwd=cwd, path=path)
    out, err = process.communicate()
    return process.returncode, out, err


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


REPORT = """
import json, sys
main = sys.modules["__main__"]
print(json.dumps([__name__, __file__, sys.argv, sys.path[0], vars(main) is globals(), __package__,
                  __spec__ and __spec__.name, "tensorflow" in sys.modules]))
"""


def test_a_script_sees_what_python_would_show_it(tmp_path: Path) -> None:
    write(tmp_path, {"deep/report.py": REPORT, "deep/helper.py": "", "cwd/x": ""})
    code, out, err = run("../deep/report.py", "--tf1", "-m", "a b", cwd=tmp_path / "cwd")
    deep = str(tmp_path / "deep")
    assert (code, err) == (0, "")
    expected = ["__main__", f"{deep}/report.py", ["../deep/report.py", "--tf1", "-m", "a b"], deep, True, None, None]
    assert json.loads(out) == [*expected, False]


def test_a_module_sees_what_python_would_show_it(tmp_path: Path) -> None:
    write(tmp_path, {"pkg/__init__.py": "", "pkg/report.py": "from . import near" + REPORT, "pkg/near.py": ""})
    write(tmp_path, {"pkg/__main__.py": REPORT})
    for module, file in (("pkg.report", "report"), ("pkg", "__main__")):
        code, out, err = run("-m", module, "--steps", "3", cwd=tmp_path)
        assert (code, err) == (0, "")
        path = f"{tmp_path}/pkg/{file}.py"
        expected = ["__main__", path, [path, "--steps", "3"], str(tmp_path), True, "pkg", f"pkg.{file}", False]
        assert json.loads(out) == expected


INTERRUPTED = "line 2, in <module>\n    raise KeyboardInterrupt\nKeyboardInterrupt\n"


@pytest.mark.parametrize(
    ("source", "code", "printed"),
    [
        ("", 0, ""),
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit()", 0, ""),
        ("raise SystemExit('no data')", 1, "no data\n"),
        # As Python does: the process ends by the signal, after its traceback and what was left to do at exit.
        ("import atexit; atexit.register(print, flush=True)\nraise KeyboardInterrupt", -signal.SIGINT, INTERRUPTED),
        ("import sys\nsys.excepthook = lambda *a: print('mine', file=sys.stderr)\n1/0", 1, "mine\n"),
        ("import atexit, sys\natexit.register(print, 'bye', file=sys.stderr)", 0, "bye\n"),
    ],
)
def test_exit_codes(tmp_path: Path, source: str, code: int, printed: str) -> None:
    write(tmp_path, {"main.py": source})
    got, _, err = run("main.py", cwd=tmp_path)
    assert (got, printed in err) == (code, True), err


def test_tracebacks_are_those_of_python(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "main.py": "import helper\n\n\ndef go():\n    helper.fail()\n\n\ngo()\n",
            "helper.py": "def fail():\n    try:\n        {}['x']\n    except KeyError as error:\n"
            "        raise ValueError('deep') from error\n",
            "late.py": "import broken\n",
            "broken.py": "1 / 0\n",
            "wrong.py": "x = (\n",
        },
    )
    for script in ("main.py", "late.py", "wrong.py"):
        plain = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
        code, _, err = run(script, cwd=tmp_path)
        assert (code, err) == (plain.returncode, plain.stderr)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["absent.py"], "lightwell run: can't open file '{cwd}/absent.py': No such file or directory\n"),
        (["-m", "no_such_module"], "lightwell run: No module named no_such_module\n"),
        (["-m", "pkg.absent"], "lightwell run: No module named pkg.absent\n"),
        (["-m", "pkg"], "lightwell run: No module named pkg.__main__\n"),
        (["pkg"], "lightwell run: '{cwd}/pkg' is a folder; name the script in it, or use -m for a package\n"),
        (["-m", "math"], "lightwell run: module 'math' is not a Python source file\n"),
    ],
)
def test_what_cannot_be_run(tmp_path: Path, words: list[str], text: str) -> None:
    write(tmp_path, {"pkg/__init__.py": ""})
    assert run(*words, cwd=tmp_path) == (2, "", text.format(cwd=tmp_path))


def test_an_import_that_fails_in_the_package_of_a_module_is_the_programs_own_error(tmp_path: Path) -> None:
    write(tmp_path, {"pkg/__init__.py": "import no_such_thing\n", "pkg/train.py": ""})
    code, _, err = run("-m", "pkg.train", cwd=tmp_path)
    assert code == 1
    assert "No module named 'no_such_thing'" in err


MIXED = {
    # Neutral: means what the program means, which old.py decides.
    "main.py": """
import os, sys
assert "tensorflow" not in sys.modules, "nothing may load TensorFlow before the program does"
import tensorflow as tf
import json, old, new, installed
from tensorflow.compat.v1 import layers
import tensorflow.python.framework.ops as ops
import tensorflow.keras.backend
def later():
    import tensorflow as inner
    return inner.__name__
print(json.dumps({
    "main": tf.__name__, "old": old.tf.__name__, "new": new.tf.__name__, "installed": installed.tf.__name__,
    "later": later(), "eager": tf.executing_eagerly(), "top": tensorflow.__name__, "layers": layers.__name__,
    "ops": ops.__name__, "doors": installed.tf.estimator.__name__, "cell": old.cell, "dimension": old.dimension,
}))
tf.contrib.boosted_trees.estimator_batch
""",
    "old.py": """
import tensorflow as tf
from tensorflow.contrib.rnn import LSTMCell
cell = LSTMCell.__module__.split(".")[0]
dimension = tf.placeholder(tf.float32, [None, 3]).shape[1].value
""",
    "new.py": "import tensorflow as tf\ntf.random.set_seed(1)\n",
    "site-packages/installed.py": "import tensorflow as tf\n",
}


def test_each_module_gets_the_tensorflow_it_means(tmp_path: Path) -> None:
    write(tmp_path, MIXED)
    code, out, err = run("main.py", cwd=tmp_path, path=[tmp_path / "site-packages"])
    assert json.loads(out or "{}") == {
        "main": "lightwell.compat.tf1",
        "old": "lightwell.compat.tf1",
        "new": "tensorflow",
        "installed": "tensorflow",
        "later": "lightwell.compat.tf1",
        "eager": False,
        "top": "lightwell.compat.tf1",
        "layers": "lightwell.model.layers",
        "ops": "tensorflow.python.framework.ops",
        "doors": "lightwell.estimator",
        "cell": "lightwell",
        "dimension": 3,
    }, err
    trace = err[err.index("Traceback") :]
    assert code == 1
    assert trace.count("File ") == 1, trace
    line = MIXED["main.py"].splitlines().index("tf.contrib.boosted_trees.estimator_batch") + 1
    assert f"line {line}, in <module>\n    tf.contrib.boosted_trees.estimator_batch" in trace
    assert "AttributeError: tf.contrib.boosted_trees.estimator_batch is gone" in trace


REPOSITORY = {
    "repo/official/mnist/mnist.py": """
import sys
sys.path.append(sys.argv[1])
import tensorflow as tf
import official.utils.flags, official.utils.net, added, library, json
print(json.dumps({m.__name__: m.tf.__name__ for m in (sys.modules["__main__"], official.utils.flags,
                                                     official.utils.net, added, library)}))
""",
    "repo/official/utils/flags.py": "import tensorflow as tf\n",
    "repo/official/utils/net.py": "from official.utils import flags\nimport tensorflow as tf\nx = tf.AUTO_REUSE\n",
    "added/added.py": "import tensorflow as tf\n",
    "target/library/__init__.py": "import tensorflow as tf\n",
    "target/library-1.0.dist-info/RECORD": "library/__init__.py,,\n",
    "cwd/readme": "",
}


def test_modules_of_a_repository_on_the_path_are_the_programs_own(tmp_path: Path) -> None:
    write(tmp_path, REPOSITORY)
    search = [tmp_path / "repo", tmp_path / "target"]
    command = [str(tmp_path / "repo/official/mnist/mnist.py"), str(tmp_path / "added")]
    meant = dict.fromkeys(["__main__", "official.utils.flags", "official.utils.net", "added"], "lightwell.compat.tf1")
    for options in ([], ["--tf1"]):
        code, out, err = run(*options, *command, cwd=tmp_path / "cwd", path=search)
        assert json.loads(out or "{}") == {**meant, "library": "tensorflow"}, err
        assert code == 0


def test_forced_tf2_means_the_real_tensorflow(tmp_path: Path) -> None:
    source = "import tensorflow as tf\nprint(tf.__file__, tf.estimator.__name__)\ntf.placeholder\n"
    write(tmp_path, {"main.py": source, "site-packages/tensorflow/__init__.py": ""})
    code, out, err = run("--tf2", "main.py", cwd=tmp_path, path=[tmp_path / "site-packages"])
    assert (code, out) == (1, f"{tmp_path}/site-packages/tensorflow/__init__.py lightwell.estimator\n")
    assert "module 'tensorflow' has no attribute 'placeholder'" in err


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the unmodified programs print, all run at the same time."""
    folder = tmp_path_factory.mktemp("programs")
    arguments = {
        "collections_in_hooks": ["model"],
        "dense_output": ["model"],
        "disable_v2_behavior": ["model"],
        "softmax_tensor": ["--model_dir", "model", "--steps", "60"],
    }
    running = {}
    for name, words in arguments.items():
        (folder / name).mkdir()
        running[name] = start(str(PROGRAMS / f"{name}.py"), *words, cwd=folder / name)
    printed = {name: process.communicate() for name, process in running.items()}
    failed = {name: printed[name][1] for name, process in running.items() if process.returncode}
    assert not failed, failed
    return {name: json.loads(out.splitlines()[-1]) for name, (out, _) in printed.items()}


def test_a_hook_reads_collections_in_every_mode(outcomes: dict[str, Any]) -> None:
    outcome = outcomes["collections_in_hooks"]
    assert outcome["feature_shapes"] == [[4, 1]] * 5  # three steps of training, two of evaluation
    assert outcome["prediction_shapes"] == [[4, 1]] * 5  # three steps of training, two of prediction
    assert (outcome["eager"], outcome["global_step"], outcome["rows"]) == (True, 3, 8)


@pytest.mark.parametrize("name", ["dense_output", "disable_v2_behavior"])
def test_a_hidden_layer_comes_out_as_a_prediction(outcomes: dict[str, Any], name: str) -> None:
    assert outcomes[name] == {
        "eager": False,
        "shapes": [[[1], [5]]],
        "rows": 40,
        "metrics": ["global_step", "loss", "mse"],
        "global_step": 5,
    }


def test_a_program_with_flags_learns(outcomes: dict[str, Any]) -> None:
    assert outcomes["softmax_tensor"]["steps"] == 60
    assert outcomes["softmax_tensor"]["accuracy"] > 0.9
