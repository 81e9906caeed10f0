"""How time and memory grow: the axes, and the measurement of every point in a process of its own."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.live import WorkerError
from benchmarks.peers import OURS, split, title_of
from benchmarks.results import GrowthPoint
from benchmarks.rounds import Crew


@dataclass(frozen=True)
class Axis:
    """Something that gets larger.

    Attributes:
        key: what the workers call it, after `growth_`.
        title: what grows.
        time_of: what the time is of.
        sizes: where it is measured.
        contenders: by whom, or what is done.
        start: what the start is.
        repeats: how often each point is measured, in one process.
        note: what is not flat, and why.
    """

    key: str
    title: str
    time_of: str
    sizes: tuple[int, ...]
    contenders: tuple[str, ...] = (OURS, "keras3")
    start: str = "the first step"
    repeats: int = 3
    note: str = ""


_STORED = tuple(f"{OURS}/{what}" for what in ("save", "restore", "inspect", "compare", "edit"))
_VERBS = tuple(f"{OURS}/{verb}" for verb in ("train", "evaluate", "capture"))
_THOUSANDS = (100, 1_000, 10_000)
_OPTIMISED = (
    "What grows a little faster than the layers is TensorFlow's own preparation of a call, "
    "which optimises the graph; the rest of the start, most of which is the making of ops, is the same for each layer. "
    "Steps are timed once it is found out which threads run them: ops as small as these, handed over to a pool of "
    "threads, take up to twice as long."
)


def _deep(key: str, title: str) -> Axis:
    return Axis(key, title, "a training step, batch 32", _THOUSANDS, (OURS,), repeats=1, note=_OPTIMISED)


AXES = (
    Axis("layers", "layers of 64 units", "a training step, batch 32", (2, 4, 8, 16, 32, 64)),
    _deep("depth", "thin layers, a weight each"),
    _deep("calls", "calls of one thin layer"),
    Axis(
        "describe",
        "thin layers, described",
        "the description as text, once the model is built",
        _THOUSANDS,
        (OURS,),
        "`input_fn` and `model_fn`, gradients included",
        repeats=1,
    ),
    Axis(
        "watches",
        "watches, each every 10 steps",
        "a training step, batch 32",
        (0, 1, 10, 100, 1_000),
        (OURS,),
        note="They look at the statistics of 31 layers, each computed once, however many look; of ten steps "
        "nine are looked at by nobody.",
    ),
    Axis("taps", "taps, of 64 layers", "predicting 10,000 rows", (0, 1, 4, 16, 64), (OURS,), "the first prediction"),
    Axis(
        "rows",
        "rows of 64 numbers, predicted",
        "predicting all of them",
        (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
        start="the first prediction",
        repeats=1,
    ),
    Axis(
        "verbs",
        "rows of 64 numbers",
        "going over all of them, batch 256",
        (10_000, 100_000, 1_000_000, 10_000_000),
        _VERBS,
        "the first time",
        repeats=1,
        note="A row has 256 bytes. `train`, whose session is closed, has one copy of the array beside the graph; the "
        "others, whose session is kept, have two when the second call begins.",
    ),
    Axis("batch", "batch size", "a training step", (1, 8, 64, 512, 4096)),
    Axis("params", "weights, trained", "a training step, batch 32", (10**4, 10**5, 10**6, 10**7, 10**8), repeats=1),
    Axis(
        "checkpoint",
        "weights in a checkpoint",
        "each thing that is done with it",
        (10**5, 10**6, 10**7, 10**8),
        _STORED,
        "the first time",
    ),
)
_QUICK_SIZES = 2


def axes_of(keys: Sequence[str]) -> tuple[Axis, ...]:
    """The axes that keys name, all of them if there are none.

    Raises:
        LookupError: a key names no axis.
    """
    for key in keys:
        if key not in {axis.key for axis in AXES}:
            raise LookupError(f"No axis is called {key!r}; there are {', '.join(axis.key for axis in AXES)}.")
    return tuple(axis for axis in AXES if not keys or axis.key in keys)


def points_of(axis: Axis, *, is_quick: bool, only: Sequence[int] = ()) -> list[tuple[str, int]]:
    """Points of an axis, as contender and size: all, those of some sizes, or for a quick run the smallest."""
    sizes = axis.sizes[:_QUICK_SIZES] if is_quick else [size for size in axis.sizes if not only or size in only]
    return [(contender, size) for size in sizes for contender in axis.contenders]


def measure_point(axis: Axis, contender: str, size: int, workers: Crew, run: str) -> GrowthPoint:
    """Time (the median of a few) and peak memory of one contender at one size."""
    workers.report.now(f"{axis.key} {size:,}: {title_of(contender)}")
    peer, variant = split(contender)
    piece = {"row": f"growth_{axis.key}", "variant": variant}
    try:
        alone = workers.start(peer)
        try:
            alone.ask(do="prepare", **piece, **workers.settings.request(size))
            repeats = 1 if workers.settings.is_quick else axis.repeats
            answers = [alone.ask(do="measure", **piece) for _ in range(repeats)]
        finally:
            alone.close()
    except WorkerError as error:
        workers.report.say(f"{axis.key} {size:,}: {title_of(contender)} has no figures: {error}")
        return GrowthPoint(axis.key, contender, size, run, absent=str(error))
    finally:
        workers.report.done()
    return GrowthPoint(
        axis.key,
        contender,
        size,
        run,
        seconds=statistics.median(answer["seconds"] for answer in answers),
        start_seconds=statistics.median(answer["start_seconds"] for answer in answers),
        memory_mb=max(answer["memory_mb"] for answer in answers),
    )
