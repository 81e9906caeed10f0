"""The log line of training."""

from __future__ import annotations

import re

import numpy as np
from tests.conftest import LogLines
from tests.hooks.steps import Context, seen_steps

from lightwell.hooks.log_loss import LogLoss


def test_the_first_step_then_each_so_many() -> None:
    assert seen_steps(LogLoss(3), range(1, 11)) == [1, 4, 7, 10]
    assert seen_steps(LogLoss(1), range(21, 24)) == [21, 22, 23]


def test_the_line_tells_the_step_before_and_the_time_it_took(log: LogLines) -> None:
    hook = LogLoss(2)
    hook.after_run(Context(11, np.float32(0.25)), None)
    hook.after_run(Context(13, np.float32(0.125)), None)
    assert log.lines[0] == "INFO loss = 0.25, step = 10"
    assert re.fullmatch(r"INFO loss = 0\.125, step = 12 \(\d+\.\d{3} sec\)", log.lines[1])


def test_a_new_session_starts_with_a_line(log: LogLines) -> None:
    hook = LogLoss(100)
    seen_steps(hook, [1, 2])
    hook.after_create_session(None, None)
    assert seen_steps(hook, [2, 3]) == [2]
    assert log.lines[-1] == "INFO loss = 0.5, step = 1"


def test_steps_that_count_by_several_do_not_confuse_it() -> None:
    assert seen_steps(LogLoss(3), [2, 4, 6, 8, 10, 12]) == [2, 6, 10]
