"""Which files are a program's own."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

import pytest

import lightwell
from lightwell.cli.program_folders import program_folders


def test_what_is_below_the_program_is_its_own_but_installed_packages(tmp_path: Path) -> None:
    places = program_folders(str(tmp_path / "project"))
    assert places.owns(str(tmp_path / "project" / "a" / "b.py"))
    assert not places.owns(str(tmp_path / "a.py"))
    assert not places.owns(str(tmp_path / "project2" / "x.py")), "a name with the same beginning is not below"
    assert not places.owns(str(tmp_path / "project/venv/lib/python3/site-packages/x.py"))
    assert not places.owns(str(tmp_path / "project/dist-packages/x.py"))
    everything = program_folders(os.path.abspath(os.sep))
    assert not everything.owns(os.path.join(sysconfig.get_paths()["stdlib"], "json/__init__.py"))
    assert not everything.owns(lightwell.__file__)


def test_what_the_user_or_the_program_puts_on_the_path_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, editable, later = (str(tmp_path / name) for name in ("given", "editable", "later"))
    monkeypatch.setenv("PYTHONPATH", given)
    monkeypatch.syspath_prepend(editable)  # as a .pth file of an editable install does
    monkeypatch.syspath_prepend(given)
    places = program_folders(str(tmp_path / "script"))
    assert places.owns(f"{given}/pkg/x.py")
    assert not places.owns(f"{editable}/pkg/x.py")
    assert program_folders(editable).owns(f"{editable}/pkg/x.py"), "run inside its own project"
    assert not places.owns(f"{later}/x.py")
    monkeypatch.syspath_prepend(later)
    assert places.owns(f"{later}/x.py")


def test_unpacked_wheels_are_installed_wherever_they_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "library-1.0.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("library/__init__.py,sha256=x,0\nalone.py,,\nlibrary-1.0.dist-info/RECORD,,\n")
    (tmp_path / "project.egg-info").mkdir()  # what a source tree has after `setup.py develop`
    (tmp_path / "project.egg-info" / "top_level.txt").write_text("project\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for places in (program_folders(str(tmp_path)), program_folders(str(tmp_path / "elsewhere"))):
        assert not places.owns(str(tmp_path / "library" / "deep" / "x.py"))
        assert not places.owns(str(tmp_path / "alone.py"))
        assert places.owns(str(tmp_path / "project" / "x.py"))
