"""How many steps a call may have."""

from __future__ import annotations

import math

from lightwell.engine.pace import Pace


def measured(pace: Pace, steps: int, seconds: float) -> int:
    """Tells the pace about a call, and returns the length of the next."""
    pace.took(steps, seconds)
    return pace.steps(math.inf)


def test_it_starts_with_one_step_and_does_not_believe_the_first_call() -> None:
    pace = Pace()
    assert pace.steps(math.inf) == 1
    assert measured(pace, 1, 3.0) == 1
    assert measured(pace, 1, 0.001) == 16


def test_it_grows_until_a_call_takes_a_quarter_of_a_second() -> None:
    pace = Pace()
    pace.took(1, 1.0)
    lengths = [measured(pace, steps, 0.001 * steps) for steps in (1, 16, 250)]
    assert lengths == [16, 250, 250]


def test_a_slower_step_counts_at_once_and_a_faster_one_by_and_by() -> None:
    pace = Pace()
    pace.took(1, 1.0)
    for steps in (1, 16, 250):
        pace.took(steps, 0.001 * steps)
    assert measured(pace, 100, 1.0) == 25
    assert 25 < measured(pace, 25, 0.025) < 50


def test_who_waits_for_the_clock_does_not_wait_long() -> None:
    pace = Pace()
    pace.took(1, 1.0)
    for steps in (1, 16, 250):
        pace.took(steps, 0.001 * steps)
    assert 90 <= pace.steps(0.1) <= 100
    assert pace.steps(-1.0) == 1


def test_a_limit_is_kept_and_a_call_without_a_step_tells_nothing() -> None:
    pace = Pace(fuse_steps=5)
    pace.took(0, 9.0)
    pace.took(1, 1.0)
    assert measured(pace, 1, 0.001) == 5
