"""When a watch looks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import lightwell as lw
from lightwell.hooks.base import NEVER
from lightwell.sight.cadence import Cadence


def _looks(cadence: Cadence, last: int, first: int = 0, stride: int = 1) -> list[int]:
    """The steps it looks at, by asking before each whether to."""
    return [done + stride for done in range(first, last, stride) if cadence.is_look(done, stride)]


def _jumps(cadence: Cadence, last: int) -> list[int]:
    """The steps it looks at, by asking where the next one is."""
    looks, step = [], cadence.next_look(0)
    while step <= last:
        looks.append(step)
        step = cadence.next_look(step)
    return looks


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((None, None, None), [100, 200]),
        ((70, None, None), [70, 140, 210]),
        ((np.int64(70), None, None), [70, 140, 210]),
        ((None, [5, 1, 5, 150, 900], None), [1, 5, 150]),
        ((None, [], None), []),
        ((None, iter((3, 4)), None), [3, 4]),
    ],
)
def test_steps(given: Any, expected: list[int]) -> None:
    cadence = Cadence("w", *given)
    assert _looks(cadence, 250) == _jumps(cadence, 250) == expected
    assert cadence.seconds_left() == math.inf


def test_steps_that_are_jumped_over_are_looked_at_once_they_are_passed() -> None:
    assert _looks(Cadence("w", 10, None, None), 40, stride=4) == [12, 20, 32, 40]
    assert _looks(Cadence("w", None, [1, 2, 9], None), 12, stride=4) == [4, 12]


def test_a_run_that_goes_on_from_a_step_keeps_the_rhythm() -> None:
    assert _looks(Cadence("w", 10, None, None), 41, first=17) == [20, 30, 40]


def test_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    cadence = Cadence("w", None, None, 2.5)
    cadence.started()
    assert cadence.is_by_clock
    assert cadence.next_look(7) == NEVER
    assert cadence.seconds_left() == 2.5
    assert not cadence.is_look(1)
    now[0] = 102.5
    assert cadence.is_look(2)
    cadence.started()
    assert not cadence.is_look(3)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"every": 0}, "w: every must be a whole number of at least 1, got 0."),
        ({"every": 2.5}, "w: every must be a whole number of at least 1, got 2.5."),
        ({"every": True}, "w: every must be a whole number"),
        ({"every": 2, "at": [1]}, "w: choose one cadence, got every and at."),
        ({"every": 2, "every_secs": 1}, "w: choose one cadence, got every and every_secs."),
        ({"at": 5}, r"w: at must be a list of step numbers, as in at=\[1, 10, 100\]; got 5."),
        ({"at": [1, "two"]}, "w: at must be a list of step numbers"),
        ({"every_secs": 0}, "w: every_secs must be a number of more than 0, got 0."),
        ({"every_secs": "1"}, "w: every_secs must be a number of more than 0, got '1'."),
    ],
    ids=str,
)
def test_a_cadence_that_makes_no_sense(given: dict[str, Any], text: str) -> None:
    with pytest.raises(lw.errors.UsageError, match=text):
        lw.Watch("loss", name="w", **given)
