"""A terminal for what is drawn where a person looks."""

from __future__ import annotations

import io
import re
import sys

import pytest


class Terminal(io.StringIO):
    """Keeps all that is drawn."""

    def lines(self) -> list[str]:
        """What was drawn, one drawing after the other, without colours."""
        return re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", self.getvalue()).replace("\r", "\n").strip().splitlines()

    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error becomes a terminal. Called in tests: pytest puts its own stream there after fixtures are made."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("CI", raising=False)
    return screen
