"""The first error of a program that is too old for today's Python or NumPy says what it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.test_runner import run

from lightwell.cli import old_numpy
from lightwell.cli.old_program_errors import explain

# A source, and what is said below its traceback.
PYTHON_2 = {
    "print 'x'": "This is Python 2, which ended in 2020. Print is a function now. `2to3 -w old.py`",
    "try:\n  pass\nexcept IOError, error:\n  pass": "2020. Write `except Error as error:`",
    "raise ValueError, 'x'": "This is Python 2, which ended in 2020. The line is written for it.",
    "for i in xrange(3): pass": "This is Python 2, which ended in 2020. xrange is range now. `2to3 -w old.py`",
    "{}.iteritems()": "This is Python 2, which ended in 2020. .iteritems() of a dict is items now.",
    "import cPickle": "This is Python 2, which ended in 2020. The module cPickle is pickle now.",
    "import urllib2": "The module urllib2 is urllib.request now.",
    "import collections\ncollections.Mapping": "Python moved it: use collections.abc.Mapping, since Python 3.10.",
    "import inspect\ninspect.getargspec": "Python moved it: use inspect.getfullargspec, since Python 3.11.",
    "x = (1": None,
    "nonsense": None,
}


def _error_of(source: str) -> BaseException:
    try:
        exec(compile(source, "old.py", "exec"), {})
    except Exception as error:
        return error
    raise AssertionError(source)


@pytest.mark.parametrize("source", PYTHON_2)
def test_what_an_error_means(source: str) -> None:
    meaning, expected = explain(_error_of(source)), PYTHON_2[source]
    assert (meaning is None) if expected is None else (meaning is not None and expected in meaning)


def test_the_cause_of_an_error_counts() -> None:
    source = "try:\n  xrange\nexcept NameError as error:\n  raise RuntimeError('model_fn failed') from error"
    assert "xrange is range now" in str(explain(_error_of(source)))


def test_a_run_says_it_below_the_traceback(tmp_path: Path) -> None:
    """Installed packages get today's NumPy, unless the user asks for more."""
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "helper.py").write_text("import numpy as np\nx = np.int(3)\ny = np.float_(3)\n")
    (tmp_path / "old.py").write_text("import helper\n")
    code, _, err = run("old.py", cwd=tmp_path, path=[installed])
    assert code == 1
    assert err.rstrip().splitlines()[-1] == (
        "lightwell run: np.int was removed from NumPy 1.24: `lightwell run --old-numpy old.py ...` restores it for "
        "installed packages, or write int."
    )
    code, out, err = run("--old-numpy", "old.py", cwd=tmp_path, path=[installed])
    assert (code, out, err) == (0, "", "")


OLD_NUMPY = """
import sys
import numpy as np
import numpy.random as npr
from numpy import float_
import helper
assert np.int is int and np.bool is bool and np.object is object and np.float_ is np.float64 is float_
assert np.zeros(2, dtype=np.int).dtype == np.int64 and np.product([2, 3]) == 6
assert np.in1d([1, 2], [2]).tolist() == [False, True]
assert isinstance(True, np.bool) and helper.unicode_ is np.str_ and npr is np.random
real = sys.modules["numpy"]
assert not hasattr(real, "int") and real.bool is not bool
load = np.load
np.load = len
assert real.load is len and np.load is len
np.load = load
print("done")
"""


def test_names_of_numpy_1_in_the_modules_of_a_program(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(OLD_NUMPY)
    (tmp_path / "helper.py").write_text("import numpy\nunicode_ = numpy.unicode_\n")
    code, out, err = run("old.py", cwd=tmp_path)
    assert (code, out) == (0, "done\n"), err
    (line,) = err.splitlines()
    assert line.startswith(("lightwell run: np.float, np.float_, np.in1d", "lightwell run: np.float_,"))
    assert line.endswith("as in NumPy 1 for this program's modules")
    (tmp_path / "new.py").write_text("import numpy, sys\nassert numpy is sys.modules['numpy']\n")
    assert run("new.py", cwd=tmp_path) == (0, "", "")


def test_python_2_in_a_module_that_is_imported(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import old\n")
    (tmp_path / "old.py").write_text("def f():\n    print 'x'\n")
    code, _, err = run("main.py", cwd=tmp_path)
    assert code == 1
    assert "SyntaxError: Missing parentheses in call to 'print'" in err
    assert (
        err.rstrip()
        .splitlines()[-1]
        .startswith("lightwell run: This is Python 2, which ended in 2020. Print is a function now. `2to3 -w old.py`")
    )


def test_every_removed_name_can_be_put_back() -> None:
    for name, row in old_numpy.REMOVED.items():
        assert not old_numpy.is_gone(name) or eval(row.instead, {"np": np}) is not None
    assert old_numpy.is_gone("int")
    assert not old_numpy.is_gone("bool_")
    assert eval(old_numpy.REMOVED["in1d"].instead, {"np": np})([[1, 2], [3, 4]], [2, 3]).tolist() == [0, 1, 1, 0]
