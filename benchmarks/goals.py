"""What a row should come to: goals, and the verdict on each from measured figures.

A ratio is always "how many times as fast as the peer": of rates ours / theirs, of times theirs / ours. Higher is
better; of memory it is how many times ours goes into theirs. It is the ratio of the two medians; its spread is that of
the ratios within each round.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["per_second", "seconds", "megabytes", "drift", "share"]


@dataclass(frozen=True)
class Figures:
    """What one contender came to in one row.

    Attributes:
        values: one per round.
        absent: if the peer could not be had at all, why.
        failed: if it could not do this, its error.
        details: what else the worker told with its last figure.
    """

    values: tuple[float, ...] = ()
    absent: str = ""
    failed: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """The middle value."""
        return statistics.median(self.values)

    @property
    def why_not(self) -> str:
        """Why there are no values."""
        if self.values:
            return ""
        return f"absent: {self.absent}" if self.absent else f"fails: {self.failed or 'no reason was given'}"


@dataclass(frozen=True)
class Ratio:
    """How many times as fast, with the least and the most of any round."""

    times: float
    least: float
    most: float


@dataclass(frozen=True)
class Verdict:
    """A goal held against figures: met, missed, or (None) not known, and in words."""

    is_met: bool | None
    words: str

    @property
    def mark(self) -> str:
        """The verdict in a word."""
        return {True: "met", False: "missed", None: "not known"}[self.is_met]


@dataclass(frozen=True)
class AtLeast:
    """To be at least so many times as fast as a contender."""

    times: float
    against: str

    @property
    def words(self) -> str:
        """The goal in words."""
        return f">= {self.times:g} x"

    def said(self, found: Ratio) -> str:
        """What a ratio came to, in the terms of the goal."""
        return f"{found.times:.2f} x"


@dataclass(frozen=True)
class TakesAtMost(AtLeast):
    """The same goal told the other way: to take at most `1 / times` of a contender's time."""

    @property
    def words(self) -> str:
        """The goal in words."""
        return f"<= {1 / self.times:g} x the time of"

    def said(self, found: Ratio) -> str:
        """What a ratio came to, in the terms of the goal."""
        return f"{1 / found.times:.2f} x the time"


@dataclass(frozen=True)
class HoldsAtMost(AtLeast):
    """The same goal for memory: to hold at most `1 / times` of a contender's."""

    @property
    def words(self) -> str:
        """The goal in words."""
        return f"<= {1 / self.times:.2f} x the memory of"

    def said(self, found: Ratio) -> str:
        """What a ratio came to, in the terms of the goal."""
        return f"{1 / found.times:.2f} x the memory"


@dataclass(frozen=True)
class Flat:
    """Memory grows by less than this share."""

    below: float = 0.01

    @property
    def words(self) -> str:
        """The goal in words."""
        return f"grows by < {self.below:.0%}"


@dataclass(frozen=True)
class Works:
    """To come to an end without an error."""

    words: str = "works at all"


@dataclass(frozen=True)
class ShareAtMost:
    """To be at most this share of the whole."""

    most: float

    @property
    def words(self) -> str:
        """The goal in words."""
        return f"<= {self.most:.0%}"


@dataclass(frozen=True)
class Reaches:
    """To reach a rate, whoever else does."""

    rate: float

    @property
    def words(self) -> str:
        """The goal in words."""
        return f">= {self.rate:g}"


Goal = AtLeast | Flat | Works | ShareAtMost | Reaches


def ratio(ours: Figures, theirs: Figures, kind: Kind) -> Ratio | None:
    """How many times as fast ours is; None where either has no figures."""
    if not ours.values or not theirs.values or kind in ("drift", "share"):
        return None
    pairs = [*zip(ours.values, theirs.values, strict=False)]
    each = [_times(mine, peer, kind) for mine, peer in pairs]
    return Ratio(_times(ours.median, theirs.median, kind), min(each), max(each))


def judge(goal: Goal, ours: str, figures: Mapping[str, Figures], kind: Kind) -> Verdict:
    """Holds a goal against the figures of a row."""
    mine = figures[ours]
    if not mine.values:
        return Verdict(False if isinstance(goal, Works) else None, mine.why_not)
    if isinstance(goal, Works):
        return Verdict(True, "it works")
    if isinstance(goal, Flat):
        worst = max(mine.values)
        return Verdict(worst < goal.below, f"{worst:+.2%}")
    if isinstance(goal, Reaches):
        return Verdict(mine.median >= goal.rate, f"{mine.median:,.0f}")
    if isinstance(goal, ShareAtMost):
        return Verdict(mine.median <= goal.most, f"{mine.median:.1%}")
    theirs = figures.get(goal.against, Figures(absent="not measured"))
    found = ratio(mine, theirs, kind)
    if found is None:
        return Verdict(None, theirs.why_not)
    is_met = found.times >= goal.times
    in_doubt = found.least < goal.times <= found.most
    words = goal.said(found)
    return Verdict(is_met, f"{words}, though not in every round" if in_doubt and is_met else words)


def _times(ours: float, theirs: float, kind: Kind) -> float:
    return ours / theirs if kind == "per_second" else theirs / ours
