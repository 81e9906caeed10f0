"""`RESULTS.md` and `BIG.md` out of results: the machine, a summary of the goals, a table per row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.figures import spread, telling
from benchmarks.goals import AtLeast, Figures, Goal, judge, ratio
from benchmarks.peers import PEERS, title_of
from benchmarks.results import Results, RowResult
from benchmarks.rows import ROWS, Row

_INTRO = """\
{title}

Written by `{command}`; [README.md](README.md) says how it measures. All figures are medians, with the least and the
most of any round beside them. A ratio is how many times as fast as the peer Lightwell is: 2 is half the time, 1 is
equal, higher is better. Both figures of a ratio come from the same run, taken in turns."""
_BESIDE = "How time and memory grow is in [GROWTH.md](GROWTH.md); `make bench ROWS=big` measures big models, to BIG.md."


def render(results: Results, profiles: Path | None = None, *, is_big: bool = False) -> str:
    """The page.

    Args:
        results: all that was measured.
        profiles: where `make bench-profile` leaves what it finds; rows that miss a goal point there.
        is_big: whether it is the page of the big models.
    """
    measured = [(row, results.rows[row.key]) for row in ROWS if row.key in results.rows and row.is_big == is_big]
    title, command = ("# Big models", "make bench ROWS=big") if is_big else ("# Benchmark results", "make bench")
    parts = [_INTRO.format(title=title, command=command)] + ([] if is_big else [_BESIDE])
    if any(info.get("is_quick") for info in results.runs.values()):
        parts.append("**A quick run with tiny data, to see that everything runs: these figures mean nothing.**")
    newest = max((result.run for _, result in measured), default="")
    if newest:
        parts += [*_run_section(results.runs[newest]), *_summary(measured), *([] if is_big else _charts(results))]
    for row, result in measured:
        parts += _row_section(row, result, results, newest, profiles)
    return "\n\n".join(parts) + "\n"


def _run_section(info: Mapping[str, Any]) -> Iterator[str]:
    yield "## Machine and versions"
    cores = ", ".join(map(str, info["used_cores"]))
    state = " with changes" if info.get("is_modified") else ""
    yield "\n".join(
        [
            f"- Date: {info['date']}; sources: {info.get('commit') or 'unknown'}{state}",
            f"- Machine: {info['cpu']}, {info['cores']} cores, {info['memory_gb']} GB, {info['system']}",
            f"- Threads: every process is pinned to the cores {cores}; {len(info['used_cores'])} threads inside an "
            "operation and as many between operations, in every library",
            f"- Rounds: {info['rounds']}, each measurement about {info['seconds']:g} s; the run took "
            f"{info['elapsed'] / 60:.0f} min; load of the machine before it: {info['load_before']:g}",
        ]
    )
    if info["load_before"] > 0.5 * info["cores"]:
        yield "**The machine was busy with other work when the run began: do not trust these figures.**"
    lines = ["| process | versions |", "|---|---|"]
    for worker, versions in info["versions"].items():
        told = ", ".join(f"{name} {version}" for name, version in versions.items() if version != "absent")
        lines.append(f"| {PEERS[worker].title} | {told} |")
    yield "\n".join(lines)


def _summary(measured: list[tuple[Row, RowResult]]) -> Iterator[str]:
    yield "## Goals"
    lines = ["| work | Lightwell | goal | came to | |", "|---|---|---|---|---|"]
    verdicts = []
    for row, result in measured:
        for number, goal in enumerate(row.goals):
            verdict = judge(goal, row.ours, result.figures, row.kind)
            verdicts.append(verdict.is_met)
            shown = (_linked(row), telling(result.figures[row.ours], row)) if not number else ("", "")
            lines.append(f"| {shown[0]} | {shown[1]} | {_goal(goal)} | {verdict.words} | {_marked(verdict.mark)} |")
    counts = [(verdicts.count(True), "met"), (verdicts.count(False), "missed"), (verdicts.count(None), "not known")]
    yield "Of " + f"{len(verdicts)} goals: " + ", ".join(f"{count} {word}" for count, word in counts) + "."
    yield "\n".join(lines)


def _charts(results: Results) -> Iterator[str]:
    if any(row.figures for row in results.rows.values()):
        yield "![How many times as fast as each peer, against the goals](images/goals.png)"


def _row_section(row: Row, result: RowResult, results: Results, newest: str, profiles: Path | None) -> Iterator[str]:
    yield f'### {row.title}\n\n<a id="{row.key}"></a>`{row.key}`' + (f". {row.note}" if row.note else "")
    if result.run != newest:
        yield f"From an earlier run, of {results.runs[result.run]['date']}."
    heads = "| | median | spread | Lightwell is … as fast | goal | |"
    lines = [heads, "|---|---|---|---|---|---|"]
    lines += [_line(row, contender, result.figures) for contender in row.contenders]
    yield "\n".join(lines)
    verdicts = [(goal, judge(goal, row.ours, result.figures, row.kind)) for goal in row.goals]
    missed = [f"{_goal(goal)} came to {verdict.words}" for goal, verdict in verdicts if verdict.is_met is False]
    if missed:
        yield " ".join(filter(None, [f"Missed: {'; '.join(missed)}.", row.limit, _where_time_goes(row, profiles)]))


def _line(row: Row, contender: str, figures: Mapping[str, Figures]) -> str:
    own, title = figures[contender], title_of(contender)
    title = f"**{title}**" if contender == row.ours else title
    if not own.values:
        return f"| {title} | {own.why_not} | | | | |"
    times, goal, mark = "", "", ""
    if contender == row.ours:
        alone = [goal for goal in row.goals if not isinstance(goal, AtLeast)]
        goal = "; ".join(one.words for one in alone)
        mark = "; ".join(_marked(judge(one, row.ours, figures, row.kind).mark) for one in alone)
    else:
        found = ratio(figures[row.ours], own, row.kind)
        times = "" if found is None else f"{found.times:.2f} x ({found.least:.2f} .. {found.most:.2f})"
        against = [one for one in row.goals if isinstance(one, AtLeast) and one.against == contender]
        goal = "; ".join(one.words for one in against)
        mark = "; ".join(_marked(judge(one, row.ours, figures, row.kind).mark) for one in against)
    return f"| {title} | {telling(own, row)} | {spread(own, row)} | {times} | {goal} | {mark} |"


def _where_time_goes(row: Row, profiles: Path | None) -> str:
    if profiles is not None and (profiles / f"{row.key}.md").exists():
        return f"Where the time goes: [profiles/{row.key}.md](profiles/{row.key}.md)."
    return f"Where the time goes: `make bench-profile ROW={row.key}` writes it to profiles/{row.key}.md."


def _goal(goal: Goal) -> str:
    if isinstance(goal, AtLeast):
        return f"{goal.words} {title_of(goal.against)}"
    return goal.words


def _linked(row: Row) -> str:
    return f"[{row.title}](#{row.key})"


def _marked(mark: str) -> str:
    return f"**{mark}**" if mark == "missed" else mark
