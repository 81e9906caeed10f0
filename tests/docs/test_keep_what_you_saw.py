"""The page "Keep what you saw": its code runs from top to bottom, and its files are where it says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.docs.page import read

import lightwell as lw

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_its_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    sys.modules.pop("digits", None)
    defined: dict[str, object] = {"__name__": "page"}
    exec(compile("\n".join(read("keep-what-you-saw.md").snippets()), "keep-what-you-saw.md", "exec"), defined)
    shown = capsys.readouterr().out
    assert "acts/: 297 rows, of model.ckpt-100" in shown
    assert "model.ckpt-50 → model.ckpt-100, 297 examples" in shown
    assert defined["now"].shape == defined["before"].shape == (297, 64)  # type: ignore[attr-defined]
    assert (tmp_path / "timeline.png").stat().st_size > 5_000
    assert {file.name for file in (tmp_path / "acts").iterdir()} == {"capture.json", "shard-00000.arrow"}
    assert len(lw.open_capture("acts-50/")) == 297
