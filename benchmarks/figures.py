"""Figures as text: rates, times, drifts and shares in the unit a reader expects."""

from __future__ import annotations

from benchmarks.goals import Figures, Kind
from benchmarks.rows import Row


def telling(figures: Figures, row: Row) -> str:
    """The median with its unit; of memory, also how much there was; of a share, of what."""
    if not figures.values:
        return figures.why_not
    shown = said(figures.median, row.kind)
    if row.kind == "per_second":
        return f"{shown} {row.unit}"
    if row.kind == "share":
        return f"{shown} of {duration(figures.details['whole'])}" if "whole" in figures.details else shown
    curve = figures.details.get("resident_mb") if row.kind == "drift" else None
    return f"{shown} ({curve[0]:,.0f} to {curve[-1]:,.0f} MB in {figures.details['calls']:,} calls)" if curve else shown


def spread(figures: Figures, row: Row) -> str:
    """The least and the most of any round."""
    if len(figures.values) < 2:
        return ""
    return f"{said(min(figures.values), row.kind)} .. {said(max(figures.values), row.kind)}"


def said(value: float, kind: Kind) -> str:
    """One figure."""
    if kind == "drift":
        return f"{value:+.2%}"
    if kind == "share":
        return f"{value:.1%}"
    if kind == "seconds":
        return duration(value)
    if kind == "megabytes":
        return f"{value:,.0f} MB"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def duration(seconds: float) -> str:
    """A time in seconds, or in milliseconds below one."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 0.01 else f"{seconds * 1e3:.3f} ms"
