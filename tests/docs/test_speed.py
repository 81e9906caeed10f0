"""The page "Speed": its code runs, and what it says about fused and single steps is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import LogLines
from tests.docs.page import DOCS, read

PAGE = read("speed.md")
EXAMPLES = DOCS.parent / "examples"


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: LogLines) -> dict[str, Any]:
    """What the page's code defined, all blocks in order, and `lines`, what it logged."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    space: dict[str, Any] = {"lines": log.lines}
    for block in PAGE.snippets():
        exec(compile(block, "docs/speed.md", "exec"), space)
    return space


def test_its_code_does_what_the_text_says(ran: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    (told,) = [line for line in ran["lines"] if "one by one" in line]
    assert f"# {told.replace(' ', ':tensorflow:', 1)}" in PAGE.text
    assert [step.global_step for step in ran["curve"]] == [600, 700]
    assert {name.split("/")[0] for name in ran["curve"][0]} == {"layers", "gradients"}
    assert list(ran["rows"][0]) == ["layers/conv2d"]
    assert ran["metrics"]["accuracy"] > 0.8
    assert set(ran["batches"][0]) == {"classes", "probabilities"}
    assert ran["answer"]["probabilities"].shape == (1, 10)
    assert len(ran["paces"]) == 3
    assert all(0 < pace < 1 for pace in ran["paces"])


def test_fused_and_single_steps_give_the_same_weights(ran: dict[str, Any]) -> None:
    ran["single"].train(ran["train_fn"], steps=400)
    fused = ran["est"].weights.at(str(Path(ran["est"].model_dir) / "model.ckpt-400"))
    for name in ("conv2d/kernel", "dense_1/bias"):
        np.testing.assert_array_equal(ran["single"].get_variable_value(name), fused[name])


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", PAGE.text)
    assert links
    assert [link for link in links if not (DOCS / link).exists()] == []
