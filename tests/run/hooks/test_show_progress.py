"""The progress line: when it is drawn, and what it says; on a terminal of its own it stands in tests/stories."""

from __future__ import annotations

import io
import logging
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines
from tests.run.hooks.conftest import LosesSession
from tests.terminal import terminal

v1 = tf.compat.v1


def test_it_says_step_of_steps_loss_and_speed_up_to_the_goal(tmp_path: Path, monkeypatch: Any, log: LogLines) -> None:
    screen = terminal(monkeypatch)
    tiny.estimator(tmp_path).train(tiny.data, steps=1995)
    last = screen.lines()[-1]
    assert "step 1,995/1,995" in last, "the last state of the line is the goal"
    assert re.search(r"loss [\d.e-]+ +\d+ steps/s", last)
    assert not log.having("loss = "), "the log line would say the same again"
    assert screen.getvalue().endswith("\n\x1b[?25h"), "a line of its own, and the cursor back"


def test_without_a_goal_it_says_the_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    tiny.estimator(tmp_path).train(lambda: tiny.data(repeat=25))
    drawn = [line for line in screen.lines() if line.startswith("train ")]
    assert drawn
    assert not [line for line in drawn if re.search(r"step [\d,]+/", line)]


def test_it_is_drawn_some_ten_times_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Naps(v1.train.SessionRunHook):
        def before_run(self, run_context: Any) -> None:
            time.sleep(0.005)

    screen = terminal(monkeypatch)
    started = time.monotonic()
    tiny.estimator(tmp_path).train(tiny.data, steps=150, hooks=[Naps()])
    took = time.monotonic() - started
    drawn = {int(step) for step in re.findall(r"step (\d+)/150", screen.getvalue())}
    assert 4 <= len(drawn) <= 4 + 20 * took
    assert max(drawn) == 150


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("CI", "1"), ("stderr", "a file")])
def test_machines_get_lines_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: LogLines, name: str, value: str
) -> None:
    screen: io.StringIO = terminal(monkeypatch)
    if name == "stderr":
        screen = io.StringIO()
        monkeypatch.setattr(sys, "stderr", screen)
    else:
        monkeypatch.setenv(name, value)
    tiny.estimator(tmp_path).train(tiny.data, steps=2)
    assert len(log.having("loss = ")) == 1
    assert "step 2/2" not in screen.getvalue()


def test_a_lost_session_begins_a_line_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    made = tiny.estimator(tmp_path, save_checkpoints_steps=1)
    made.train(tiny.data, steps=5, hooks=[LosesSession(at=3)])
    assert "step 5/5" in screen.lines()[-1]
    assert screen.getvalue().count("\x1b[?25l") == screen.getvalue().count("\x1b[?25h") == 2


def test_the_cursor_comes_back_after_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Fails(v1.train.SessionRunHook):
        def before_run(self, run_context: Any) -> None:
            if run_context.count == 2:
                raise KeyError("mine")

    screen = terminal(monkeypatch)
    with pytest.raises(KeyError, match="mine"):
        tiny.estimator(tmp_path).train(tiny.data, steps=5, hooks=[Fails()])
    assert screen.getvalue().count("\x1b[?25l") == screen.getvalue().count("\x1b[?25h") == 1


def test_log_lines_go_above_the_line_and_back_to_where_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Says(v1.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            if run_context.count == 2:
                logger.error("a line of the log")

    screen = terminal(monkeypatch)
    handler, logger = logging.StreamHandler(screen), logging.getLogger("tensorflow")
    handler.setLevel(logging.ERROR)
    logger.addHandler(handler)
    try:
        tiny.estimator(tmp_path).train(tiny.data, steps=3, hooks=[Says()])
        assert handler.stream is screen
    finally:
        logger.removeHandler(handler)
    lines = screen.lines()
    assert "a line of the log" in [line.strip() for line in lines]
    assert "step 3/3" in lines[-1]
