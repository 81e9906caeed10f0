"""The pages of the results: figures, ratios and verdicts in one table, then missed goals, notes, runs and versions.

A ratio is how many times as fast as the peer Lightwell is: of rates ours / theirs, of times theirs / ours, of memory
how many times ours goes into theirs. It is taken of the medians; its spread is that of the ratios of each round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from benchmarks.peers import BEFORE, OURS, PEERS, title_of
from benchmarks.results import Figures, Results
from benchmarks.rows import BEST_PEER, ROWS, Goal, Row

_OURS = (OURS, BEFORE)

_MEDIANS = """\
Figures are medians, with the least and the most of any round. A ratio is how many times as fast as the peer Lightwell
is: 2 is half the time, higher is better. Both figures of a ratio come from one run, taken in turns. The last column is
the run, listed at the end."""
_MORE = "Other pages: [BIG.md](BIG.md), [GROWTH.md](GROWTH.md), [SCALING.md](SCALING.md)."
_GROWTH = """\
One process per point. Memory is the peak of what is resident, above what was before the work began. "One more" is what
a unit more (a layer, a row, a weight) costs: the difference to the size before, divided by the difference of sizes.
Where it stays the same, cost is linear. Figures of different runs are not comparable."""
_SCALING = """\
Real processes on one machine, joined by `TF_CONFIG` where there are several. Each that trains has one core (with two
devices, two) and one thread for a matrix product. A step is one worker's own, the median of stretches of 50, with the
least and the most. Two independent processes show what two cores are worth. Bytes are those of the loopback device;
beside them what follows from the variables: over parameter servers all weights to a worker and all gradients back, in
a ring of n processes 2 (n - 1) times the weights."""
PROFILES = "GPU_PROFILES.md"
_GPU = f"""\
With `PROFILES=1`, where the time of Lightwell's side goes in rows that miss a goal is in [{PROFILES}]({PROFILES})."""
PAGES = {  # page to file, title, the command that writes it, and its introduction
    "bench": ("RESULTS.md", "Benchmark results", "make bench", f"{_MEDIANS}\n\n{_MORE}"),
    "big": ("BIG.md", "Big models", "make bench ROWS=big", _MEDIANS),
    "growth": ("GROWTH.md", "Growth", "make bench-growth", _GROWTH),
    "gpu": ("GPU.md", "On a GPU", "make bench-gpu", f"{_MEDIANS}\n\n{_GPU}"),
    "scaling": ("SCALING.md", "Scaling", "make bench-scaling", _SCALING),
}


def render(page: str, results: Results) -> str:
    """A page; empty if no row of it has figures."""
    rows = [row for row in ROWS if row.page == page and row.key in results.rows]
    used = {one.run for row in rows for one in results.rows[row.key].values()}
    runs = {name: number for number, name in enumerate(sorted(used, key=lambda name: results.runs[name]["date"]), 1)}
    if not rows:
        return ""
    _, title, command, intro = PAGES[page]
    parts = [f"# {title}", f"Written by `{command}`; [README.md](README.md) says how it measures. {intro}"]
    if any(results.runs[name].get("is_quick") for name in runs):
        parts.append("**A quick run with tiny data, to see that everything runs: these figures mean nothing.**")
    plain = [row for row in rows if not row.columns]
    if plain:
        parts += _goals(plain, results, runs)
    for row in (row for row in rows if row.columns):
        parts += filter(None, [f"## {row.title}", row.note, _columns_table(row, results.rows[row.key], runs)])
    return "\n\n".join([*parts, *_runs(runs, results)]) + "\n"


def _goals(rows: list[Row], results: Results, runs: Mapping[str, int]) -> Iterator[str]:
    """The counts of verdicts, the table of all rows, and what has to be said of some."""
    lines = ["| work | who | median | spread | ratio | goal | | run |", "|---|---|---|---|---|---|---|---|"]
    marks, missed, notes = [], [], [f"- `{row.key}`: {row.note}" for row in rows if row.note]
    for row in rows:
        figures, misses = results.rows[row.key], []
        for goal in row.goals:
            mark, words = judge(goal, row, figures)
            marks.append(mark)
            if mark == "missed":
                against = f" {_against_words(goal, row, figures)}" if goal.against else ""
                misses.append(f"{goal_words(goal, row)}{against} came to {words}")
        if misses:
            missed.append(f"- `{row.key}`: {'; '.join(misses)}. {row.limit}".rstrip())
        choice = figures[row.ours].details.get("choice") if row.ours in figures and row.page == "gpu" else None
        if choice is not None and not row.of:
            notes.append(f"- `{row.key}`, as it comes: {_choice_words(figures[row.ours].details)}")
        first = f"`{row.key}` {row.title}"
        for contender in (one for one in row.contenders if one in figures):
            lines.append(f"| {first} | {_line(row, contender, figures)} | {runs[figures[contender].run]} |")
            first = ""
    counts = ", ".join(f"{marks.count(mark)} {mark}" for mark in ("met", "missed", "not known"))
    yield f"Of {len(marks)} goals: {counts}."
    yield "\n".join(lines)
    unmeasured = [row.key for row in ROWS if row.page == rows[0].page and row not in rows]
    if unmeasured:
        yield f"Not measured yet: {', '.join(f'`{key}`' for key in unmeasured)}."
    for title, texts in (("Missed", missed), ("Notes", notes)):
        if texts:
            yield f"## {title}\n\n" + "\n".join(texts)


def _choice_words(details: Mapping[str, Any]) -> str:
    """What Lightwell chose by itself, when, and what the trial cost."""
    settled, cost = details["settled_seconds"], details["trial_seconds"]
    said = details["choice"] or "nothing was chosen"
    return (
        f"{said} Settled after {settled:.1f} s of training, of which {cost:.1f} s were lost against the pace after it."
    )


def _line(row: Row, contender: str, figures: Mapping[str, Figures]) -> str:
    own, is_ours = figures[contender], contender == row.ours
    title = f"**{title_of(contender)}**" if is_ours else title_of(contender)
    if not own.values:
        return f"{title} | {own.problem} | | | | "
    times = None if is_ours else ratio(figures[row.ours], own, row.kind)
    shown = "" if times is None else f"{times[0]:.2f} x ({times[1]:.2f} .. {times[2]:.2f})"
    goals = [goal for goal in row.goals if goal.against in (("", BEST_PEER) if is_ours else (contender,))]
    names = [f" {_against_words(goal, row, figures)}" if goal.against == BEST_PEER else "" for goal in goals]
    words = "; ".join(goal_words(goal, row) + name for goal, name in zip(goals, names, strict=True))
    marks = "; ".join(judge(goal, row, figures)[0].replace("missed", "**missed**") for goal in goals)
    ends = [value_words(end, row.kind) for end in (min(own.values), max(own.values))] if len(own.values) > 1 else []
    return f"{title} | {median_words(own, row)} | {' .. '.join(ends)} | {shown} | {words} | {marks}"


def _columns_table(row: Row, figures: Mapping[str, Figures], runs: Mapping[str, int]) -> str:
    """The table of a row with further columns; where it has sizes, with what one more costs."""
    columns = [("time" if row.kind == "seconds" else row.unit, "", row.kind), *row.columns]
    heads = [f"{head} | one more" if row.sizes else head for head, _, _ in columns]
    lines = [f"| {'size | ' if row.sizes else ''}who | {' | '.join(heads)} | run |"]
    lines.append("|---" * (lines[0].count("|") - 1) + "|")
    for contender in row.contenders:
        before: tuple[int, Figures] | None = None
        for size in row.sizes or (0,):
            one = figures.get(f"{contender}@{size}" if row.sizes else contender)
            if one is None:
                continue
            cells = [f"{size:,}"] * bool(row.sizes) + [title_of(contender)]
            if not one.values:
                empty = [""] * (lines[1].count("|") - len(cells) - 3)
                lines.append(f"| {' | '.join([*cells, one.problem, *empty])} | {runs[one.run]} |")
                continue
            for _, key, kind in columns:
                cells.append(value_words(one.value(key), kind))
                if row.sizes:
                    more = before and (one.value(key) - before[1].value(key)) / (size - before[0])
                    cells.append("" if more is None else _small_words(more, kind))
            before = size, one
            lines.append(f"| {' | '.join(cells)} | {runs[one.run]} |")
    return "\n".join(lines)


def _runs(runs: Mapping[str, int], results: Results) -> Iterator[str]:
    """When, on what and with which versions the figures were taken."""
    lines, versions = [], {}
    for name, number in runs.items():
        info = results.runs[name]
        facts = [
            f"{number}. {info['date']}",
            f"sources {info['commit']}" + " with changes" * info.get("is_modified", False)
            if info.get("commit")
            else "",
            f"{info['cpu']}, {info['cores']} cores",
            f"{info['memory_gb']} GB" if "memory_gb" in info else "",
            info.get("gpu", ""),
            f"pinned to {len(info['used_cores'])} cores and as many threads" if "used_cores" in info else "",
            f"rounds: {info['rounds']}, of about {info['seconds']:g} s" if "rounds" in info else "",
            f"load before: {info['load_before']:g}",
            "**busy: do not trust it**" if info["load_before"] > 0.5 * info["cores"] else "",
        ]
        lines.append(", ".join(filter(None, facts)))
        for peer, packages in info.get("versions", {}).items():
            shown = ", ".join(f"{package} {version}" for package, version in packages.items() if version != "absent")
            if peer != BEFORE:
                versions.setdefault((PEERS[peer].title, shown), []).append(str(number))
    yield "## Runs\n\n" + "\n".join(lines)
    if versions:
        table = [f"| {title} | {shown} | {', '.join(numbers)} |" for (title, shown), numbers in versions.items()]
        yield "\n".join(["| process | versions | runs |", "|---|---|---|", *table])


def ratio(ours: Figures, theirs: Figures, kind: str) -> tuple[float, float, float] | None:
    """How many times as fast ours is, with the least and the most of any round; None where one has no figures."""
    if not ours.values or not theirs.values or kind in ("drift", "share") or ours.run != theirs.run:
        return None
    pairs = [(ours.median, theirs.median), *zip(ours.values, theirs.values, strict=False)]
    times = [mine / peer if kind == "per_second" else peer / mine for mine, peer in pairs]
    return times[0], min(times[1:]), max(times[1:])


def judge(goal: Goal, row: Row, figures: Mapping[str, Figures]) -> tuple[str, str]:
    """Whether a goal is "met", "missed" or "not known", and what it came to."""
    missing = Figures(problem="not measured")
    ours, theirs = figures.get(goal.by or row.ours, missing), figures.get(_against(goal, row, figures), missing)
    if not ours.values:
        return ("missed" if goal.bound is None else "not known"), ours.problem
    if goal.bound is None:
        return "met", "it works"
    if not goal.against:
        value = max(ours.values) if row.kind == "drift" else ours.median
        is_met = value >= goal.bound if row.kind == "per_second" else value <= goal.bound
        return ("met" if is_met else "missed"), value_words(value, row.kind)
    times = ratio(ours, theirs, row.kind)
    if times is None:
        return "not known", theirs.problem or "measured in another run"
    words = f"{1 / times[0]:.2f} x the {goal.inverse}" if goal.inverse else f"{times[0]:.2f} x"
    return ("met" if times[0] >= goal.bound else "missed"), words


def _against(goal: Goal, row: Row, figures: Mapping[str, Figures]) -> str:
    """The contender of a goal; the best peer is the fastest one that is not ours."""
    if goal.against != BEST_PEER:
        return goal.against
    peers = {key: one.median for key, one in figures.items() if one.values and key.partition("/")[0] not in _OURS}
    return max(peers, key=lambda key: peers[key]) if peers else ""


def _against_words(goal: Goal, row: Row, figures: Mapping[str, Figures]) -> str:
    against = _against(goal, row, figures)
    return (
        f"{BEST_PEER} ({title_of(against) if against else 'none'})" if goal.against == BEST_PEER else title_of(against)
    )


def goal_words(goal: Goal, row: Row) -> str:
    if goal.by:
        return f"{title_of(goal.by)}: {goal_words(replace(goal, by=''), row)}"
    if goal.bound is None:
        return "works at all"
    if goal.inverse:
        return f"<= {round(1 / goal.bound, 2):g} x the {goal.inverse} of"
    if goal.against:
        return f">= {goal.bound:g} x"
    return f"{'>=' if row.kind == 'per_second' else '<='} {value_words(goal.bound, row.kind)}"


def median_words(figures: Figures, row: Row) -> str:
    """The median with its unit; of a drift also the memory, of a share the whole."""
    words, details = value_words(figures.median, row.kind), figures.details
    if row.kind == "per_second":
        return f"{words} {row.unit}"
    if "whole" in details:
        return f"{words} of {value_words(details['whole'], 'seconds')}"
    if "resident_mb" in details:
        curve = details["resident_mb"]
        return f"{words} ({curve[0]:,.0f} to {curve[-1]:,.0f} MB in {details['calls']:,} calls)"
    return words


def value_words(value: float, kind: str) -> str:
    """A figure in the unit that a reader expects."""
    if kind == "seconds":
        if value >= 1:
            return f"{value:.2f} s"
        return f"{value * 1e3:.1f} ms" if value >= 0.01 else f"{value * 1e3:.3f} ms"
    formats = {"drift": "{:+.2%}", "share": "{:.1%}", "megabytes": "{:,.0f} MB", "ms": "{:.2f} ms", "count": "{:,.0f}"}
    return formats.get(kind, "{:,.0f}" if value >= 100 else "{:.1f}").format(value)


def _small_words(value: float, kind: str) -> str:
    """The cost of one more unit, in the largest unit in which it is at least 1."""
    scales = ((1e3, "kB"), (1e6, "B")) if kind == "megabytes" else ((1, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns"))
    scale, unit = next((one for one in scales if abs(value) * one[0] >= 1), scales[-1])
    return f"{value * scale:,.1f} {unit}"


def profile_words(row: Row, profile: Mapping[str, Any]) -> str:
    """A profile as tables: own time by function, and time with callees by function of Lightwell."""
    ours = [one for one in profile["functions"] if "lightwell/" in one[3]]
    lines = [f"# Where the time goes: {row.title}", "", f"`{row.key}`: {profile['whole']:.2f} s of the calling thread."]
    for head, place, functions in (("own time", 0, profile["functions"]), ("with callees, Lightwell", 1, ours)):
        lines += ["", f"| {head} | calls | function |", "|---|---|---|"]
        top = sorted(functions, key=lambda one: -one[place])[:15]
        lines += [f"| {one[place]:.1%} | {one[2]:,} | `{one[3]}` |" for one in top]
    return "\n".join(lines)


def trace_words(row: Row, contender: str, run: str, answer: Mapping[str, Any]) -> str:
    """A profile on the device, as a section with a table for each plane."""
    seconds = answer["seconds"]
    lines = [
        f"# {title_of(contender)}: {row.title}",
        "",
        f"`{row.key}`, {run}: {seconds:.2f} s, {answer['per_second']:,.1f} {row.unit}.",
        "",
    ]
    for plane in answer["planes"]:
        lines += [
            f"## {plane['name']}",
            "",
            f"The busiest line: {plane['busiest_line'] / seconds:.0%} of the time.",
            "",
        ]
        lines += ["| time | count | each | name |", "|---|---|---|---|"]
        for total, count, name in plane["names"]:
            each, name = f"{1e6 * total / count:,.1f} µs", name.replace("|", "¦")
            lines.append(f"| {total / seconds:.1%} | {count:,} | {each} | `{name}` |")
        lines.append("")
    return "\n".join(lines) + "\n"
