"""The page "Ready-made models": its code runs, and shows what comes out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.docs.page import DOCS, read

import lightwell as lw

PAGE = read("ready-made-models.md")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the page's code defined, all blocks in order, and what it printed."""
    patch, printed = pytest.MonkeyPatch(), list[str]()
    patch.chdir(tmp_path_factory.mktemp("page"))
    patch.setattr("builtins.print", lambda *words, **_: printed.append(" ".join(map(str, words))))
    space: dict[str, Any] = {}
    try:
        for block in PAGE.snippets():
            exec(compile(block, "docs/ready-made-models.md", "exec"), space)
        yield space, printed
    finally:
        patch.undo()


def test_its_code_does_what_the_text_says(ran: Any) -> None:
    space, printed = ran
    assert float(printed[0]) > 0.9
    parts = space["row"]["layers/linear"] + space["row"]["layers/dnn/logits"]
    np.testing.assert_allclose(space["row"]["logits"], parts, rtol=1e-5)
    assert len(space["seen"]) == 2
    assert {"accuracy/bought", "average_loss/visits"} <= set(space["result"])


def test_what_it_shows_is_what_it_prints(ran: Any) -> None:
    described, tree, mistake = PAGE.blocks("text")
    assert ran[1][1] == described.rstrip("\n")
    shapes = [_without_numbers(text) for text in ran[1] if text.startswith("node ")]
    assert shapes == [_without_numbers(tree)]
    assert ran[1][-1] == mistake.rstrip("\n")


def _without_numbers(table: str) -> list[list[str]]:
    """The words of a table's lines; the last digits of gains are rounding."""
    return [re.findall(r"[a-z<=]+", line.replace("e-", "")) for line in table.splitlines() if line.strip()]


def test_trees_do_what_the_text_says(ran: Any) -> None:
    space, printed = ran
    place = next(place for place, text in enumerate(printed) if text.startswith("node "))
    assert float(printed[place - 1]) > 0.9
    why = space["why"]
    assert why["bias"] + sum(why["dfc"].values()) == pytest.approx(float(why["logistic"][0]), abs=1e-6)


def test_its_table_names_every_model() -> None:
    named = set(re.findall(r"`(\w+(?:Classifier|Regressor|Estimator))`", PAGE.text.partition("## Train one")[0]))
    assert len(named) == 15
    assert all(isinstance(getattr(lw, name), type) for name in named)


def test_its_links_and_pictures_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", PAGE.text)
    assert links
    assert [link for link in links if not (DOCS / link).exists()] == []
    assert 2_000 < Path(DOCS / "images" / "hidden.png").stat().st_size < 100_000
