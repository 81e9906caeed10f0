"""`lightwell run` and `doctor` find from the sources whether a program needs the package `tf_keras`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# TensorFlow is not imported: the switch has to be set before that.
PROGRAM = """
import os
from helper import build
print("switch", os.environ.get("TF_USE_LEGACY_KERAS"))
"""
NEEDS_KERAS_2 = "import tensorflow as tf\n\n\ndef build():\n    return tf.keras.applications.RegNetX002()\n"
NEEDS_NOTHING = "import tensorflow as tf\n\n\ndef build():\n    return tf.keras.layers.CuDNNLSTM(2)\n"


def command(
    folder: Path, verb: str, helper: str, *, installed: bool, **environment: str
) -> subprocess.CompletedProcess[str]:
    (folder / "program").mkdir()
    (folder / "program" / "train.py").write_text(PROGRAM)
    (folder / "program" / "helper.py").write_text(
        helper.replace("import tensorflow as tf", "tf = None\nif 0:\n    import tensorflow as tf")
        if verb == "run"
        else helper
    )
    (folder / "packages").mkdir()
    if installed:
        (folder / "packages" / "tf_keras.py").write_text("")
    # Not PYTHONPATH: what is on that belongs to the program.
    path = str(folder / "packages")
    site = f"import sys; sys.path.append({path!r}); from lightwell.cli.main import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", site, verb, str(folder / "program" / "train.py")],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_program_gets_keras_2_and_one_line_says_why(tmp_path: Path) -> None:
    done = command(tmp_path, "run", NEEDS_KERAS_2, installed=True)
    assert done.stdout == "switch 1\n", done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("lightwell run: the program uses tf.keras.applications.RegNetX002 (helper.py, line ")
    assert line.endswith("tf.keras is the package tf_keras, which has it")


@pytest.mark.parametrize(
    ("helper", "installed"), [(NEEDS_NOTHING, True), (NEEDS_KERAS_2, False)], ids=["no need", "not installed"]
)
def test_other_programs_keep_keras_3(tmp_path: Path, helper: str, installed: bool) -> None:
    done = command(tmp_path, "run", helper, installed=installed)
    assert (done.stdout, done.stderr) == ("switch None\n", "")


def test_the_environment_decides_before_the_sources(tmp_path: Path) -> None:
    done = command(tmp_path, "run", NEEDS_KERAS_2, installed=True, TF_USE_LEGACY_KERAS="0")
    assert (done.stdout, done.stderr) == ("switch 0\n", "")


@pytest.mark.parametrize(
    ("installed", "code", "advice"),
    [(True, 0, "the package tf_keras"), (False, 1, "pip install tf_keras")],
    ids=["installed", "not installed"],
)
def test_the_doctor_says_the_same(tmp_path: Path, installed: bool, code: int, advice: str) -> None:
    done = command(tmp_path, "doctor", NEEDS_KERAS_2, installed=installed)
    assert done.returncode == code, done.stdout
    (row,) = [line for line in done.stdout.splitlines() if "RegNetX002" in line]
    assert advice in row
