"""Lazy pages: names come on first use, and what is missing says so."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator

import pytest

from lightwell.base.lazy import lazy_names, resolve

TARGETS = {"OrderedDict": "collections:OrderedDict", "join": "os:path.join", "js": "json", "broken": "no_such_module:x"}
ABSENT = {"BoostedTrees": "Use a decision forest library."}


@pytest.fixture
def page() -> Iterator[types.ModuleType]:
    module = types.ModuleType("lazy_page_under_test")
    sys.modules[module.__name__] = module
    module.__getattr__, module.__dir__, module.__all__ = lazy_names(module.__name__, TARGETS, absent=ABSENT)
    yield module
    del sys.modules[module.__name__]


def test_resolve_reads_modules_and_dotted_attributes() -> None:
    import os.path

    assert resolve("os:path.join") is os.path.join
    assert resolve("json") is importlib.import_module("json")


def test_a_name_is_found_once_and_kept(page: types.ModuleType) -> None:
    assert "OrderedDict" not in vars(page)
    found = page.OrderedDict
    assert found is importlib.import_module("collections").OrderedDict
    assert vars(page)["OrderedDict"] is found


def test_dir_and_all_offer_what_exists(page: types.ModuleType) -> None:
    assert page.__all__ == sorted(TARGETS)
    assert set(TARGETS) <= set(dir(page))
    assert "BoostedTrees" not in dir(page)


def test_an_absent_name_says_what_to_use(page: types.ModuleType) -> None:
    with pytest.raises(
        AttributeError,
        match=r"lazy_page_under_test\.BoostedTrees does not exist in Lightwell\. Use a decision forest library\.",
    ) as caught:
        _ = page.BoostedTrees
    assert caught.value.name == "BoostedTrees"
    assert not hasattr(page, "BoostedTrees")


def test_from_import_keeps_the_hint(page: types.ModuleType) -> None:
    with pytest.raises(
        ImportError, match=r"BoostedTrees does not exist in Lightwell\. Use a decision forest library\."
    ):
        from lazy_page_under_test import BoostedTrees  # noqa: F401
    from lazy_page_under_test import OrderedDict

    assert OrderedDict is page.OrderedDict


def test_from_import_keeps_the_hint_in_a_module_of_many_names(page: types.ModuleType) -> None:
    many = "\n".join(f"name_{number} = 0" for number in range(300))
    with pytest.raises(ImportError, match=r"Use a decision forest library\."):
        exec(f"{many}\nfrom lazy_page_under_test import BoostedTrees", {})
    with pytest.raises(AttributeError, match=r"Use a decision forest library\."):
        exec(f"{many}\npage.BoostedTrees", {"page": page})


def test_a_page_has_the_name_that_users_write(page: types.ModuleType) -> None:
    page.__getattr__, page.__dir__, names = lazy_names(
        page.__name__, {"join": "os:path.join"}, absent=ABSENT, unlisted={"joint": "os:path.join"}, label="tf.page"
    )
    with pytest.raises(AttributeError, match=r"^tf\.page\.BoostedTrees does not exist"):
        _ = page.BoostedTrees
    with pytest.raises(AttributeError, match=r"^module 'tf\.page' has no attribute 'joints'\. Nearest names: join\.$"):
        _ = page.joints
    assert page.joint is page.join
    assert names == ["join"]
    assert "joint" not in dir(page)


def test_one_class_for_both_errors_would_not_serve() -> None:
    """Why an import is told from a look-up by the instruction that asks."""
    with pytest.raises(TypeError, match="lay-out conflict"):
        type("Both", (AttributeError, ImportError), {})


def test_a_target_may_be_made_by_a_function(page: types.ModuleType) -> None:
    page.__getattr__, _, _ = lazy_names(page.__name__, {"made": lambda: [1]})
    assert page.made == [1]
    assert page.made is page.made


def test_an_unknown_name_gets_the_nearest_names(page: types.ModuleType) -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'OrderdDict'\. Nearest names: OrderedDict\."):
        _ = page.OrderdDict
    with pytest.raises(AttributeError, match=r"has no attribute 'zzz'\.$"):
        _ = page.zzz


def test_a_row_that_points_nowhere_is_loud(page: types.ModuleType) -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        _ = page.broken
