"""`lightwell run --old-python`: programs of Python 2 and early Python 3 run, and every translated file is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.test_notebooks import write as write_notebook
from tests.cli.test_runner import run, write

from lightwell.cli import old_program_errors, old_python, python2_source

PYTHON_2 = """\
# -*- coding: utf-8 -*-
\"\"\"A program of 2014.\"\"\"
import cPickle, urllib2, collections, time, inspect, string
from collections import Mapping
from itertools import izip
import StringIO
import helper

d = {'a': 1}
print "x", d.has_key('a'), 7 / 2, 7 / 2.0, -7 / 2
for k, v in d.iteritems(): print k, v
print d.keys()[0], map(lambda x: x + 1, [1, 2])[0], len(zip([1], [2])), filter(None, (1, 0)), map(None, [1], [2, 3])
try:
    raise ValueError, "bad"
except ValueError, e:
    print e
print helper.halves(5), isinstance({}, Mapping), isinstance({}, collections.Mapping), time.clock() >= 0
print inspect.getargspec(lambda a, b=1: a).args, string.letters[:3], list(izip([1], [2]))
x = 7
x /= 2
print x, 0777, 10L, unicode("u"), `5`, 1 <> 2
print cPickle.loads(cPickle.dumps([1])), urllib2.Request("http://a/b").get_full_url()
exec "y = 3"
print y, range(2) + [4], reduce(lambda a, b: a + b, [1, 2, 3])
g = iter([1, 2]); print g.next(), list(helper.Three()), bool(helper.Nothing())
buffer = StringIO.StringIO()
print >>buffer, "written"
print buffer.getvalue().strip()
if True:
\tprint "a tab"
        print "spaces"
"""
PRINTED = """\
x True 3 3.5 -4
a 1
a 2 1 (1,) [(1, 2), (None, 3)]
bad
[0, 0, 1, 1, 2] True True True
['a', 'b'] abc [(1, 2)]
3 511 10 u 5 True
[1] http://a/b
3 [0, 1, 4] 6
1 [1, 2, 3] False
written
a tab
spaces
"""
HELPER = """\
def halves(n):
    return [i / 2 for i in xrange(n)]
class Three(object):
    n = 0
    def __iter__(self):
        return self
    def next(self):
        self.n += 1
        if self.n > 3:
            raise StopIteration
        return self.n
class Nothing(object):
    def __nonzero__(self):
        return False
"""


def test_python_2_runs_and_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"old.py": PYTHON_2, "helper.py": HELPER})
    code, out, err = run("--old-python", "old.py", cwd=tmp_path)
    assert (code, out) == (0, PRINTED), err
    assert [line.partition(" lines")[0] for line in err.splitlines()] == [
        "lightwell run: old.py: read as old Python, 18",
        "lightwell run: helper.py: read as old Python, 3",
    ]
    assert (tmp_path / "old.py").read_text() == PYTHON_2
    code, _, err = run("old.py", cwd=tmp_path)
    assert code == 1, "never without being asked"
    assert "`lightwell run --old-python old.py ...`" in err


def test_early_python_3(tmp_path: Path) -> None:
    """What parses is divided as Python 3 divides; today's names stay as they are; packages are left alone."""
    source = """
from __future__ import print_function
import collections, inspect, json, string
import yaml
sizes = map(int, ["1", "2"])
print(len(sizes), sizes[0], 7 / 2, {"a": 1}.keys()[0], isinstance([], collections.Sequence))
print(inspect.getargspec(print_function.getMandatoryRelease).args, yaml.load("a: 1"))
assert type(json.loads("{}").keys()).__name__ == "list" and string.ascii_letters
"""
    write(tmp_path, {"old.py": source, "site-packages/yaml.py": YAML})
    code, out, err = run("--old-python", "old.py", cwd=tmp_path, path=[tmp_path / "site-packages"])
    assert (code, out) == (0, "2 1 3.5 a True\n['self'] ('a: 1', 'safe')\n"), err
    assert "old.py: read as old Python, 2 lines rewritten (in memory)" in err


YAML = """
SafeLoader = "safe"
def load(stream, Loader):
    return stream, Loader
"""


def test_a_notebook_and_a_package(tmp_path: Path) -> None:
    write_notebook(tmp_path, "x = 7", "print x / 2, {}.has_key(1)")
    code, out, err = run("--old-python", "work.ipynb", cwd=tmp_path)
    assert (code, out) == (0, "3 False\n"), err
    write(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/task.py": "from . import near, new\nprint near.x, new.x",
            "pkg/near.py": "x = 1 / 2",
            "pkg/new.py": "x: float = 1 / 2",
        },
    )
    code, out, err = run("--old-python", "-m", "pkg.task", cwd=tmp_path)
    assert (code, out) == (0, "0 0.5\n"), err


def test_what_is_neither_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, {"broken.py": "print 'a'\nx = = 2\n"})
    code, out, err = run("--old-python", "broken.py", cwd=tmp_path)
    assert (code, out) == (1, "")
    assert "SyntaxError" in err


def test_without_a_fixer_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("fissix", "lib2to3"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
        monkeypatch.setitem(__import__("sys").modules, f"{name}.refactor", None)
    with pytest.raises(python2_source.NoFixer, match=r"pip install 'lightwell\[python2\]'"):
        python2_source.translate("print 'x'\n", "old.py")
    assert python2_source.translate("x = {}.keys()\n", "old.py").changes == 1, "that needs none"


def test_every_old_name_leads_somewhere() -> None:
    assert set(old_python.MODULES) == set(old_program_errors.MODULES)
    for name in {*old_python.MODULES, *old_python.VIEWED} - {"Tkinter", "yaml"}:
        module = old_python.old_module(name)
        assert module is not None
        for each in dir(module):
            getattr(module, each, None)
    for module, name in old_program_errors.LATER_PYTHON:
        assert getattr(old_python.old_module(module), name) is not None
