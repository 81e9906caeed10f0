"""What the original gives now so, now so: places that its own runs disagree in, and how far apart they are there.

Owns the one excuse that no table can hold, for a program that leaves two ops without an order: a summary that reads
a weight beside the step that writes it, say. An excuse is for a place, never for a kind of difference, and only where a
run of the original gives the same, or where numbers are about as near to it as its own runs are to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.fuzz.compare import EXACT, Difference, Digits, compared, fractions, near, of_text

MORE_RUNS = 6  # of the original at most; a race that none of these shows is told as a difference
FURTHER = 10.0  # how much further apart numbers may be than a few runs of the original happened to be

# Differences that end the comparison of two runs: what comes after them is not looked at.
_ENDS = ("hang", "crash", "broken", "failure:", "order:")


@dataclass(frozen=True)
class Settled:
    """What is left of the differences between Lightwell and the original.

    Attributes:
        left: those that no other run of the original excuses.
        excused: places, as the first run of the original has them, that are not among these.
        runs: how often the original ran.
    """

    left: list[Difference]
    excused: list[Difference]
    runs: int


def settled(
    ours: dict[str, Any],
    first: dict[str, Any],
    again: Callable[[], dict[str, Any]],
    digits: Digits,
    is_explained: Callable[[Difference], bool],
) -> Settled:
    """Runs the original again while there are differences that its own do not excuse.

    Args:
        ours: what Lightwell gave.
        first: what the original gave.
        again: runs the original once more.
        digits: how near numbers must be.
        is_explained: whether a difference is known to be right; such ones need no excuse.
    """
    found = [one for one in compared(ours, first, digits) if not is_explained(one)]
    runs, left = [first], found
    while left and len(runs) <= MORE_RUNS:
        runs.append(again())
        # The run that is most like ours is what ours is compared with: records line up with those of that one.
        tried = [_left(ours, base, runs, digits, is_explained) for base in runs]
        left = min(tried, key=lambda some: (any(one.kind.startswith(_ENDS) for one in some), len(some)))
    places = {one.where for one in left}
    return Settled(left, [one for one in found if one.where not in places], len(runs))


def _left(
    ours: dict[str, Any],
    base: dict[str, Any],
    runs: Sequence[dict[str, Any]],
    digits: Digits,
    is_explained: Callable[[Difference], bool],
) -> list[Difference]:
    """Differences to one run of the original, without those that the other runs excuse."""
    found = [one for one in compared(ours, base, digits) if not is_explained(one)]
    if not found:
        return []
    others: dict[str, list[Any]] = {}
    for run in runs:
        if run is not base:
            for one in compared(run, base, EXACT):
                others.setdefault(one.where, []).append(one.values[0])
    return [one for one in found if not excused(one, others.get(one.where, ()), digits)]


def excused(difference: Difference, others: Sequence[Any], digits: Digits) -> bool:
    """Whether the original itself gives other values in a place, and ours is one of them or as near as they are.

    Args:
        difference: between ours and a run of the original, in this place.
        others: what further runs of the original gave there, if not the same bits.
        digits: how near numbers must be where all runs of the original agree.
    """
    if not others or difference.kind.startswith(_ENDS):
        return False
    ours, base = difference.values
    if any(near(ours, other, digits) for other in others):
        return True
    mine, at_base = fractions(ours), fractions(base)
    if mine is None or at_base is None or mine[0] != at_base[0]:
        return False
    rest = [found[1] for found in map(fractions, others) if found is not None and found[0] == at_base[0]]
    if not rest:
        return False
    if isinstance(ours, str):
        digits = of_text(digits)
    # Number by number: one in which no two runs of the original differ has no room but its digits.
    room = FURTHER * np.max([np.abs(one - at_base[1]) for one in rest], 0)
    allowed = digits.absolute + digits.relative * np.abs(at_base[1]) + room
    return bool(np.all(np.isfinite(allowed)) and np.all(np.abs(mine[1] - at_base[1]) <= allowed))
