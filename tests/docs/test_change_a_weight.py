"""The page "Change a weight": its code runs in order, its command too, and comes to what the text says."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tests.docs.page import DOCS, read

from lightwell.cli.main import main

PAGE = read("change-a-weight.md")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the page's code defined, all blocks in order, in a directory of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        patch.syspath_prepend(str(DOCS.parent / "examples"))
        space: dict[str, Any] = {}
        for block in PAGE.snippets():
            exec(compile(block, "docs/change-a-weight.md", "exec"), space)
        yield space


def test_what_the_page_says(ran: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    est = ran["est"]
    assert ran["after"]["loss"] != ran["before"]["loss"] == ran["again"]["loss"]
    np.testing.assert_array_equal(est.layers["conv2d"].kernel, ran["kernel"])
    rows = {row.checkpoint: row for row in est.lineage()}
    assert rows["model.ckpt-edit2-100"].parent == "model.ckpt-edit1-100"
    assert rows["model.ckpt-140"].edits[0].how == "4 times, last set at step 140"
    assert rows["model.ckpt-140"].parent == "model.ckpt-100"
    (command,) = PAGE.commands()
    assert main([*command.words[1:]]) == 0
    assert command.comment in capsys.readouterr().out


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", PAGE.text)
    assert [link for link in links if not (DOCS / link).exists()] == []
