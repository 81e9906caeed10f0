"""The command itself: help, version, mistakes."""

from __future__ import annotations

from importlib import metadata

import pytest

import lightwell
from lightwell.cli import main as command


def test_version_names_both_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        command.main(["--version"])
    assert leaving.value.code == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"lightwell {lightwell.__version__} (tensorflow")


def test_version_without_tensorflow(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert command.version_text() == f"lightwell {lightwell.__version__} (no TensorFlow found)"


def test_without_a_command_it_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 0
    printed = capsys.readouterr().out
    assert "run an unmodified program" in printed
    assert "lightwell inspect runs/mnist" in printed


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["run"], "name a script, or a module with -m"),
        (["run", "--tf1", "--tf2", "x.py"], "not allowed with argument --tf1"),
        (["walk"], "invalid choice: 'walk'"),
        (["run", "--steps", "5", "x.py"], "lightwell run: error: unrecognized arguments: --steps; what is meant for"),
        (["inspect", "--jso", "--depth", "x"], "lightwell inspect: error: unrecognized arguments: --depth"),
        (["inspect"], "the following arguments are required: MODEL_DIR\n"),
    ],
)
def test_mistakes_are_told(words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        command.main(words)
    assert leaving.value.code == 2
    assert text in capsys.readouterr().err
