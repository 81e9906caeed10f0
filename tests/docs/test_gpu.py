"""The page "On a GPU": its code runs here too, and its settings are what the text says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.docs.page import DOCS, read

PAGE = read("gpu.md")


def test_its_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(DOCS.parent / "examples"))
    space: dict[str, Any] = {}
    for block in PAGE.snippets():
        exec(compile(block, "docs/gpu.md", "exec"), space)
    assert [space[name].config.jit_compile for name in ("est", "always", "never")] == [None, True, False]
    assert "Ops of a step: " in capsys.readouterr().out
    assert not any(Path("runs").rglob("*.ckpt*")), "a description leaves model_dir alone"
    assert {op.kind for op in space["placed"].devices} > {"IteratorGetNext", "ResourceApplyAdam"}
