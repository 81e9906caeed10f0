"""The page "Look inside": its code runs, its pictures are drawn by it, what it shows is what comes out."""

from __future__ import annotations

import importlib
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from lightwell.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "look-inside.md"
EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: Any) -> Any:
    """The page's code after it ran, all blocks in order: where, what it defined, what it printed."""
    directory = tmp_path_factory.mktemp("page")
    capture, patch = pytest.MonkeyPatch(), pytest.MonkeyPatch()
    patch.syspath_prepend(str(EXAMPLES))
    printed: list[str] = []
    pictures = importlib.import_module("look_inside_pictures")
    capture.setattr("builtins.print", lambda *words, **_: printed.append(" ".join(map(str, words))))
    try:
        defined = pictures.run(directory)
    finally:
        capture.undo()
        patch.undo()
        sys.modules.pop("look_inside_pictures", None)
    return directory, defined, printed


def test_its_code_runs_and_does_what_the_text_says(ran: Any) -> None:
    _, defined, printed = ran
    assert [step for step, _, _ in defined["curve"]] == list(range(20, 401, 20))
    assert defined["result"]["accuracy"] > 0.9
    assert defined["rows"][0]["layers/conv2d"].shape == (8, 8, 16)
    assert any("Did you mean 'weights/dense/kernel'?" in line for line in printed)
    assert any("units never fire" in line for line in printed)


def test_the_table_it_shows_is_the_one_it_prints(ran: Any) -> None:
    shown = PAGE.read_text().split("```text\n")[1].split("```")[0]
    assert ran[2][0] == shown.rstrip("\n")


def test_its_pictures_are_drawn_by_its_code_and_kept(ran: Any) -> None:
    drawn = {picture.name for picture in ran[0].glob("*.png")}
    shown = set(re.findall(r"\(images/([\w-]+\.png)\)", PAGE.read_text()))
    assert drawn == shown
    for name in shown:
        assert 2_000 < (ROOT / "docs" / "images" / name).stat().st_size < 60_000


def test_its_commands_work(ran: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ran[0])
    commands = re.findall(r"^\$ lightwell (.*)$", PAGE.read_text(), re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        capsys.readouterr()
        assert main(shlex.split(command)) == 0
    shown = PAGE.read_text().split("```text\n")[2].splitlines()[:2]
    capsys.readouterr()
    assert main(["inspect", "runs/digits", "dense/kernel"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == shown


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", PAGE.read_text())
    assert links
    assert [link for link in links if not (PAGE.parent / link).exists()] == []


def test_the_short_program_watches_and_stops(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = EXAMPLES / "look_inside_watch.py"
    code = [line for line in program.read_text().split('"""', 2)[2].splitlines() if line.strip()]
    assert len(code) < 15
    monkeypatch.syspath_prepend(str(EXAMPLES))
    defined: dict[str, Any] = {"__name__": "look_inside_watch"}
    exec(compile(program.read_text(), str(program), "exec"), defined)
    steps = int(defined["est"].get_variable_value("global_step"))
    lines = capsys.readouterr().out.splitlines()
    assert 50 <= steps < 2000
    assert len(lines) == steps // 50
    assert lines[-1].startswith(str(steps))
    for path in ("features/x", "labels", "layers/conv2d", "layers/dense", "gradients/layers/dense", "updates/weights/"):
        assert path in lines[0]
