"""Processes that a program spawns have the program's TensorFlow, NumPy and Python; nothing else of them changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.test_runner import run, write

CHILDREN = """
import multiprocessing, os, sys
import numpy as np
import tensorflow as tf
from helper import units

def work(number, queue):
    with tf.Graph().as_default():
        x = tf.layers.dense(tf.placeholder(tf.float32, [None, 2]), units)
        queue.put([number, x.shape[1].value, np.int(3), tf.AUTO_REUSE is not None, os.getcwd(), sys.argv[1:]])

if __name__ == "__main__":
    queue = multiprocessing.get_context(sys.argv[1]).Queue()
    child = multiprocessing.get_context(sys.argv[1]).Process(target=work, args=(1, queue))
    child.start()
    print(queue.get(timeout=120) == [1, 4, 3, True, os.getcwd(), sys.argv[1:]])
    child.join()
    print(child.exitcode, "LIGHTWELL" in "".join(os.environ))
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_spawned_child_of_a_script(tmp_path: Path, method: str) -> None:
    write(tmp_path, {"scripts/train.py": CHILDREN, "scripts/helper.py": "units = 4\n"})
    code, out, err = run("scripts/train.py", method, "--flag", cwd=tmp_path)
    assert (code, out) == (0, "True\n0 False\n"), err


def test_a_spawned_child_of_a_module(tmp_path: Path) -> None:
    source = CHILDREN.replace("from helper", "from .helper")
    write(
        tmp_path,
        {"pkg/__init__.py": "", "pkg/task.py": source, "pkg/helper.py": "import numpy as np\nunits = np.int(4)\n"},
    )
    code, out, err = run("-m", "pkg.task", "spawn", cwd=tmp_path)
    assert (code, out) == (0, "True\n0 False\n"), err


OLD = """
import multiprocessing
def work(queue):
    print "child", 7 / 2
if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=work, args=(None,))
    child.start()
    child.join()
    print "exit", child.exitcode
"""


def test_a_spawned_child_of_python_2(tmp_path: Path) -> None:
    write(tmp_path, {"old.py": OLD})
    code, out, err = run("--old-python", "old.py", cwd=tmp_path)
    assert (code, out) == (0, "child 3\nexit 0\n"), err
