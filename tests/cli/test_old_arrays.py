"""Calls of arrays that NumPy 1 knew work in a program's own modules, and mean the same in all other cases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.test_notebooks import write as write_notebook
from tests.cli.test_runner import run, write

from lightwell.cli.main import main

HELPER = """\
def raw(image):
    return image.tostring()
"""
PROGRAM = """\
from __future__ import division
import array
import numpy as np
import helper
from xml.etree import ElementTree

image = np.arange(3, dtype=np.uint8)
print(helper.raw(image), image.T.tostring(), np.float32(0).tostring(), array.array("b", [65]).tostring())
print(ElementTree.tostring(ElementTree.Element("a")))
print(float(np.array([[2.5]])), int(np.array([7])), float(np.float32(1)), int("3"), float(np.array(4)))


class Own:
    def tostring(self, *words):
        return ",".join(words)


print(Own().tostring("a", "b"))
try:
    float(np.array([1.0, 2.0]))
except TypeError as error:
    print("TypeError")
"""
PRINTED = """\
b'\\x00\\x01\\x02' b'\\x00\\x01\\x02' b'\\x00\\x00\\x00\\x00' b'A'
b'<a />'
2.5 7 1.0 3 4.0
a,b
TypeError
"""


def test_a_program_and_its_modules(tmp_path: Path) -> None:
    write(tmp_path, {"helper.py": HELPER, "old.py": PROGRAM})
    for _ in range(2):  # the second time, modules could come from Python's cache
        code, out, err = run("old.py", cwd=tmp_path)
        assert (code, out) == (0, PRINTED), err
        assert "as in NumPy 1 for this program's modules" in err or hasattr(np.ndarray, "tostring")
    assert (tmp_path / "helper.py").read_text() == HELPER


def test_a_name_of_the_program_stays_its_own(tmp_path: Path) -> None:
    write(tmp_path, {"own.py": "def float(value):\n    return 'mine'\n\n\nprint(float([1]), int(2.5))\n"})
    assert run("own.py", cwd=tmp_path)[:2] == (0, "mine 2\n")


def test_a_cell_of_a_notebook(tmp_path: Path) -> None:
    write_notebook(tmp_path, "import numpy as np", "float(np.array([1.5]))")
    assert run("work.ipynb", cwd=tmp_path)[:2] == (0, "1.5\n")


def test_the_doctor_lists_the_method(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, {"helper.py": HELPER, "old.py": PROGRAM})
    assert main(["doctor", str(tmp_path / "old.py")]) == 0
    advice = "lightwell run gives it to the program's own modules"
    words = " ".join(capsys.readouterr().out.split())
    is_gone = not hasattr(np.ndarray, "tostring")
    assert [text in words for text in ("np.ndarray.tostring", advice)] == [is_gone, is_gone]
