"""Changes to modules of others can be undone exactly."""

from __future__ import annotations

from types import ModuleType

from lightwell.compat.journal import Journal


def _module(**attributes: object) -> ModuleType:
    module = ModuleType("somebody_elses")
    vars(module).update(attributes)
    return module


def test_what_was_there_comes_back_and_what_was_not_goes() -> None:
    module = _module(old=1)
    before = dict(vars(module))
    journal = Journal()
    journal.set(module, "old", 2)
    journal.set(module, "new", 3)
    assert (module.old, module.new) == (2, 3)
    assert journal.has_set(module, "new")
    journal.restore()
    assert dict(vars(module)) == before
    assert not journal.has_set(module, "new")


def test_two_changes_of_one_attribute_are_undone_in_reverse() -> None:
    module = _module(name="first")
    journal = Journal()
    journal.set(module, "name", "second")
    journal.set(module, "name", "third")
    journal.restore()
    assert module.name == "first"


def test_what_somebody_else_replaced_is_theirs() -> None:
    module = _module()
    journal = Journal()
    journal.set(module, "name", "ours")
    module.name = "theirs"
    journal.restore()
    assert module.name == "theirs"


def test_an_expected_import_is_undone_too() -> None:
    module = _module()
    journal = Journal()
    child = ModuleType("child")
    journal.expect(module, "child", child)
    module.child = child
    journal.restore()
    assert "child" not in vars(module)


class Wrapper(ModuleType):
    """Lists in `__all__` whatever is set on it, as TensorFlow's module wrapper does."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name not in self.__all__:
            self.__all__.append(name)


def test_public_lists_are_as_before() -> None:
    module = Wrapper("wrapper")
    vars(module).update({"__all__": ["kept"], "kept": 1, "hidden": 2})
    journal = Journal()
    journal.set(module, "kept", 3)
    journal.set(module, "hidden", 4)
    assert module.__all__ == ["kept", "hidden"]
    journal.restore()
    assert module.__all__ == ["kept"]
