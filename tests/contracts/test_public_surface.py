"""Public names, arguments and defaults are those of the record: what users wrote against them goes on working."""

from __future__ import annotations

import json

import pytest
from tests.contracts.public_surface import LISTED, PAGES, RECORD, surface

RECORDED = json.loads(RECORD.read_text())


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, object]]:
    return surface()


@pytest.mark.parametrize("page", [*PAGES, *LISTED])
def test_a_page_is_as_recorded(page: str, found: dict[str, dict[str, object]]) -> None:
    now, then = json.loads(json.dumps(found[page])), RECORDED[page]
    assert sorted(now) == sorted(then)
    assert {name: now[name] for name in now if now[name] != then[name]} == {
        name: then[name] for name in now if now[name] != then[name]
    }
