"""Training stops exactly at its goal."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conftest import LogLines
from tests.hooks.steps import Context

from lightwell.hooks.stop_at_step import StopAtStep


class Session:
    """One whose global step is 10."""

    def run(self, fetches: Any) -> int:
        return 10


@pytest.fixture(autouse=True)
def graph() -> Any:
    import tensorflow as tf

    with tf.Graph().as_default():
        tf.compat.v1.train.create_global_step()
        yield


def stopped_after(hook: StopAtStep, step: int) -> bool:
    context = Context(step)
    hook.after_run(context, None)
    return context.stopped


@pytest.mark.parametrize(("steps", "last"), [(3, 13), (1.5, 12), (1, 11)])
def test_so_many_more_steps(steps: Any, last: int) -> None:
    hook = StopAtStep(steps, None)
    hook.after_create_session(Session(), None)
    assert hook.last_step is not None
    assert [stopped_after(hook, step) for step in range(11, last + 1)] == [False] * (last - 11) + [True]


@pytest.mark.parametrize(("max_steps", "last"), [(12, 12), (11.5, 12)])
def test_up_to_a_step(max_steps: Any, last: int) -> None:
    hook = StopAtStep(None, max_steps)
    hook.after_create_session(Session(), None)
    assert [stopped_after(hook, step) for step in (11, 12)] == [last <= 11, True]


def test_a_new_session_does_not_move_the_goal() -> None:
    hook = StopAtStep(3, None)
    hook.after_create_session(Session(), None)
    hook.after_create_session(Session(), None)
    assert hook.last_step == 13


def test_it_looks_at_two_steps_to_see_the_counter_move_and_at_the_goal() -> None:
    hook = StopAtStep(None, 100)
    assert hook.next_look(0) == 1
    stopped_after(hook, 1)
    assert hook.next_look(1) == 2
    stopped_after(hook, 2)
    assert hook.next_look(2) == 100
    assert hook.next_look(99) == 100
    assert hook.next_look(100) == 101


def test_a_counter_that_stands_still_is_told(log: LogLines) -> None:
    hook = StopAtStep(None, 5)
    stopped_after(hook, 0)
    stopped_after(hook, 0)
    (line,) = log.having("The global step is still 0 after another training step")
    assert line.startswith("WARNING")
    assert "global_step=tf.compat.v1.train.get_global_step() to optimizer.minimize" in line


def test_a_counter_that_stands_still_is_told_once_in_a_while(log: LogLines) -> None:
    hook = StopAtStep(None, 5)
    for _ in range(50):
        stopped_after(hook, 0)
    assert len(log.having("The global step is still")) < 10


def test_a_step_that_counts_by_two_stops_too() -> None:
    hook = StopAtStep(None, 5)
    assert [stopped_after(hook, step) for step in (2, 4, 6)] == [False, False, True]
