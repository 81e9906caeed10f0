"""The progress line: when it is drawn, and what it says."""

from __future__ import annotations

import io
import logging
import re
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from tests.hooks.steps import Context

from lightwell.hooks import show_progress
from lightwell.hooks.show_progress import ShowProgress, terminal_wants_progress
from lightwell.hooks.stop_at_step import StopAtStep


class Terminal(io.StringIO):
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


def test_a_person_at_a_terminal_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch)
    assert terminal_wants_progress()


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("CI", "1")])
def test_machines_do_not(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    terminal(monkeypatch)
    monkeypatch.setenv(name, value)
    assert not terminal_wants_progress()


def test_a_file_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not terminal_wants_progress()


def run(hook: ShowProgress, steps: int, monkeypatch: pytest.MonkeyPatch, per_second: float) -> list[int]:
    """Runs steps at a given speed; returns those that were drawn."""
    clock = [1000.0]
    monkeypatch.setattr(show_progress, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    hook.after_create_session(None, None)
    drawn = []
    for step in range(1, steps + 1):
        clock[0] += 1 / per_second
        if hook.next_look(step - 1) <= step or hook.next_look_seconds() <= 0:
            drawn.append(step)
            hook.after_run(Context(step, 1 / step), None)
    hook.close()
    return drawn


def test_it_is_drawn_some_ten_times_a_second_and_at_the_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch)
    drawn = run(ShowProgress(StopAtStep(None, 1995)), 1995, monkeypatch, per_second=1000)
    assert 10 <= len(drawn) <= 60
    assert drawn[0] == 1
    assert drawn[-1] == 1995, "the last state of the line is the goal"


def test_it_says_step_of_steps_loss_and_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    run(ShowProgress(StopAtStep(None, 2000)), 2000, monkeypatch, per_second=1000)
    last = screen.lines()[-1]
    assert "step 2,000/2,000" in last
    assert "loss 0.0005" in last
    assert "1000 steps/s" in last


def test_without_a_goal_it_says_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    run(ShowProgress(None), 50, monkeypatch, per_second=20)
    shown = screen.getvalue()
    assert "step 49" in shown or "step 50" in shown
    assert "/" not in shown.split("step 4")[-1].split("loss")[0]


def test_closing_twice_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    hook: Any = ShowProgress(None)
    hook.close()
    hook.after_run(Context(1), None)
    hook.close()
    hook.close()
    assert all("step 1 loss 0.5" in line for line in screen.lines())
    assert screen.getvalue().endswith("\n\x1b[?25h"), "a line of its own, and the cursor back"


def test_log_lines_go_above_the_line_and_back_to_where_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    handler = logging.StreamHandler(screen)
    logger = logging.getLogger("tensorflow")
    logger.addHandler(handler)
    try:
        hook = ShowProgress(None)
        hook.after_run(Context(1), None)
        logger.error("a line of the log")
        hook.after_run(Context(2), None)
        hook.close()
        assert handler.stream is screen
    finally:
        logger.removeHandler(handler)
    lines = screen.lines()
    assert "a line of the log" in [line.strip() for line in lines]
    assert "step 2" in lines[-1]
