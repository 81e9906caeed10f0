"""Which way is kept: the one that took less time, if both may be tried."""

from __future__ import annotations

import pytest

from lightwell.engine.faster_way import FasterWay


def decide(by_pool: float, in_thread: float, steps: int = 100, may_stay: bool = True) -> tuple[FasterWay, set[bool]]:
    """The ways that were tried over 40 calls, steps taking so long each."""
    way, tried = FasterWay(may_stay), set()
    for _ in range(40):
        tried.add(way.stays)
        way.took(steps, steps * (in_thread if way.stays else by_pool))
    return way, tried


@pytest.mark.parametrize(("by_pool", "in_thread"), [(1e-3, 0.8e-3), (1e-3, 1.2e-3)])
def test_the_faster_is_kept(by_pool: float, in_thread: float) -> None:
    way, tried = decide(by_pool, in_thread)
    assert tried == {True, False}
    assert way.is_decided
    assert way.stays == (in_thread < by_pool)
    assert (way.options is not None) == way.stays


def test_long_steps_are_left_to_the_pool() -> None:
    way, tried = decide(0.01, 0.005)
    assert tried == {False}
    assert way.is_decided


def test_calls_of_few_steps_say_nothing() -> None:
    way, tried = decide(1e-3, 1e-4, steps=3)
    assert tried == {False}
    assert not way.is_decided


def test_what_may_not_stay_never_does() -> None:
    way, tried = decide(1e-3, 1e-4, may_stay=False)
    assert tried == {False}
    assert way.is_decided


def test_one_slow_call_does_not_decide() -> None:
    way = FasterWay(may_stay=True)
    for call in range(40):
        way.took(100, 1.0 if call == 5 else 0.1 * (0.8 if way.stays else 1.0))
    assert way.stays
