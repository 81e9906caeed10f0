"""Replacing attributes of others for a while: everywhere, in any order, by many, and back."""

from __future__ import annotations

import gc
import os
import sys
import sysconfig
import threading
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest

from lightwell.foreign.patches import Patches, SharedPatches


class Target:
    kept = 1


def test_patches_come_off_in_reverse_and_leave_no_attribute_behind() -> None:
    patches = Patches()
    patches.put(Target, "kept", 2)
    patches.wrap(Target, "kept", lambda value: value + 1)
    patches.put(Target, "added", 5)
    assert (Target.kept, Target.added) == (3, 5)  # type: ignore[attr-defined]
    patches.undo()
    assert Target.kept == 1
    assert not hasattr(Target, "added")


def test_a_plan_that_fails_leaves_nothing_behind() -> None:
    def plan(patches: Patches) -> None:
        patches.put(Target, "kept", 2)
        raise AttributeError("not in this release")

    with pytest.raises(AttributeError, match="not in this release"), SharedPatches(plan).applied():
        pass
    assert Target.kept == 1


def test_what_somebody_else_put_there_stays() -> None:
    patches = Patches()
    patches.put(Target, "kept", 2)
    Target.kept = 7
    patches.undo()
    assert Target.kept == 7
    Target.kept = 1


def test_a_stand_in_serves_again_until_what_it_stands_for_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def more(value: int) -> int:
        made.append(value)
        return value + 1

    shared = SharedPatches(lambda patches: patches.wrap(Target, "kept", more))
    seen = []
    for kept in (1, 1, 5, 5, 1):
        monkeypatch.setattr(Target, "kept", kept)
        with shared.applied():
            seen.append(Target.kept)
        assert Target.kept == kept
    assert (seen, made) == ([2, 2, 6, 6, 2], [1, 5, 1])


def test_a_function_is_replaced_in_every_module_that_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None: ...

    def ours() -> None: ...

    def other() -> None: ...

    held = {"first": work, "first.copy": work, "second": work, "third": other}
    modules = {name: ModuleType(name) for name in held}
    for name, module in modules.items():
        vars(module)["work"] = held[name]
        monkeypatch.setitem(sys.modules, name, module)
    patches = Patches()
    patches.put_everywhere([("work", work, ours)])
    assert [module.work for module in modules.values()] == [ours, ours, ours, other]
    patches.undo()
    assert {name: module.work for name, module in modules.items()} == held


def test_the_last_of_many_threads_restores() -> None:
    shared = SharedPatches(lambda patches: patches.put(Target, "kept", 2))
    inside, leave = threading.Barrier(3), threading.Event()

    def hold() -> None:
        with shared.applied():
            inside.wait()
            leave.wait()

    threads = [threading.Thread(target=hold) for _ in range(2)]
    for thread in threads:
        thread.start()
    inside.wait()
    with shared.applied():
        pass
    assert Target.kept == 2
    leave.set()
    for thread in threads:
        thread.join()
    assert Target.kept == 1


def test_a_module_that_is_loaded_while_others_are_looked_through() -> None:
    """As another thread may do; here the collector does, which runs whenever objects are made."""

    def function() -> None: ...

    holder, many = ModuleType("holder_of_it"), [f"one_of_many_{i}" for i in range(5000)]
    loaded: list[str] = []

    def load(phase: str, info: Any) -> None:
        loaded.append(f"loaded_late_{len(loaded)}")
        sys.modules[loaded[-1]] = ModuleType(loaded[-1])

    holder.function = function  # type: ignore[attr-defined]
    sys.modules.update({name: ModuleType(name) for name in many}, **{holder.__name__: holder})
    before = gc.get_threshold()
    gc.callbacks.append(load)
    gc.set_threshold(50)
    try:
        patches = Patches()
        patches.put_everywhere([("function", function, len)])
        assert holder.function is len  # type: ignore[attr-defined]
        patches.undo()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(load)
        for name in [holder.__name__, *many, *loaded]:
            del sys.modules[name]
    assert loaded


def test_a_module_in_the_place_of_another_is_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as before, and under the same names."""

    def original() -> None:
        """Replaced below."""

    def ours() -> None:
        """Takes its place."""

    for holds in ({}, {"function": original}, {}, {"function": original}):
        module = ModuleType("a_module_in_the_place_of_another")
        vars(module).update(holds)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        patches = Patches()
        patches.put_everywhere([("function", original, ours)])
        assert vars(module).get("function") is (ours if holds else None)
        patches.undo()
        assert vars(module).get("function") is holds.get("function")


def test_an_installed_module_that_was_still_being_imported_is_searched_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def work() -> None: ...

    def ours() -> None: ...

    installed = ModuleType("installed_package")
    installed.__file__ = os.path.join(sysconfig.get_path("purelib"), "installed_package", "__init__.py")
    installed.__spec__ = ModuleSpec("installed_package", None)
    installed.__spec__._initializing = True  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "installed_package", installed)

    def replaced() -> Any:
        patches = Patches()
        patches.put_everywhere([("work", work, ours)])
        try:
            return vars(installed).get("work")
        finally:
            patches.undo()

    assert replaced() is None
    installed.work = work  # type: ignore[attr-defined]
    installed.__spec__._initializing = False  # type: ignore[attr-defined]
    assert replaced() is ours
    assert replaced() is ours
    assert installed.work is work  # type: ignore[attr-defined]
