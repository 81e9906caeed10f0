"""The page "Try a change": its code runs, and what its text says comes out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.docs.page import DOCS, read

import lightwell as lw

PAGE = read("try-a-change.md")


@pytest.fixture(scope="module")
def defined(tmp_path_factory: Any) -> Any:
    """What the page's code defined, all blocks in order."""
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(DOCS.parent / "examples"))
    patch.chdir(tmp_path_factory.mktemp("page"))
    names: dict[str, Any] = {}
    try:
        for block in PAGE.snippets():
            exec(compile(block.replace("steps=200", "steps=60"), "try-a-change.md", "exec"), names)
    finally:
        patch.undo()
    return names


def test_its_code_does_what_the_text_says(defined: Any) -> None:
    assert defined["without"]["accuracy"] != defined["plain"]["accuracy"]
    assert len(defined["ablation"]) == 16
    assert defined["frame"]["loss"].idxmax() == defined["worst"]
    assert defined["answer"]["probabilities"].shape == (10,)


def test_its_table_has_every_edit() -> None:
    listed = [re.match(r"lw\.(\w+)", cell)[1] for cell in PAGE.first_column("Evaluate, predict and train under edits")]  # type: ignore[index]
    assert sorted(listed) == ["add", "apply", "clip", "noise", "replace", "scale", "zero"]
    assert set(listed) <= set(lw.__all__)


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", PAGE.text)
    assert links
    assert [link for link in links if not (Path(DOCS) / link).exists()] == []
