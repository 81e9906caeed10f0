"""Old names of private modules lead to where they are today, or nowhere if a release lacks that."""

from __future__ import annotations

import importlib

import pytest

from lightwell.foreign import moved_modules


def test_each_is_there_today() -> None:
    found = {old: moved_modules.moved_to(old) for old in moved_modules.MOVED}
    assert found == dict(moved_modules.MOVED)
    assert all(importlib.import_module(name) for name in found.values() if name)


def test_a_release_that_lacks_one_costs_that_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moved_modules, "MOVED", {"tensorflow.python.old": "tensorflow.python.no_such_module"})
    assert moved_modules.moved_to("tensorflow.python.old") is None
    assert moved_modules.moved_to("tensorflow.python.ops") is None
