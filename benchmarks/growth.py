"""How time and memory grow: the axes, and the measurement of every point in a process of its own."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from benchmarks.live import WorkerError
from benchmarks.peers import OURS, split, title_of
from benchmarks.results import GrowthPoint
from benchmarks.rounds import Crew

_REPEATS = 3


@dataclass(frozen=True)
class Axis:
    """Something that gets larger.

    Attributes:
        key: what the workers call it, after `growth_`.
        title: what grows.
        time_of: what the time is of.
        sizes: where it is measured.
        contenders: by whom.
    """

    key: str
    title: str
    time_of: str
    sizes: tuple[int, ...]
    contenders: tuple[str, ...] = (OURS, "keras3")


AXES = (
    Axis("layers", "layers of 64 units", "a training step, batch 32", (2, 4, 8, 16, 32, 64)),
    Axis("depth", "layers of 64 units, many", "a training step, batch 32", (128, 512, 2_048), (OURS,)),
    Axis("watches", "watches, each every 10 steps", "a training step, batch 32", (0, 1, 10, 100, 1_000), (OURS,)),
    Axis("taps", "taps, of 64 layers", "predicting 10,000 rows", (0, 1, 4, 16, 64), (OURS,)),
    Axis("rows", "rows of 64 numbers", "predicting all of them", (1_000, 10_000, 100_000, 1_000_000, 10_000_000)),
    Axis("batch", "batch size", "a training step", (1, 8, 64, 512, 4096)),
    Axis("params", "weights", "a training step, batch 32", (10**4, 10**5, 10**6, 10**7, 10**8)),
)
_QUICK_SIZES = 2


def points_of(axis: Axis, *, is_quick: bool) -> list[tuple[str, int]]:
    """Every point of an axis, as contender and size; for a quick run the smallest ones."""
    sizes = axis.sizes[:_QUICK_SIZES] if is_quick else axis.sizes
    return [(contender, size) for size in sizes for contender in axis.contenders]


def measure_point(axis: Axis, contender: str, size: int, workers: Crew) -> GrowthPoint:
    """Time (the median of a few) and peak memory of one contender at one size."""
    workers.report.now(f"{axis.key} {size:,}: {title_of(contender)}")
    peer, variant = split(contender)
    piece = {"row": f"growth_{axis.key}", "variant": variant}
    try:
        alone = workers.start(peer)
        try:
            alone.ask(do="prepare", **piece, **workers.settings.request(size))
            repeats = 1 if workers.settings.is_quick else _REPEATS
            answers = [alone.ask(do="measure", **piece) for _ in range(repeats)]
        finally:
            alone.close()
    except WorkerError as error:
        workers.report.say(f"{axis.key} {size:,}: {title_of(contender)} has no figures: {error}")
        return GrowthPoint(axis.key, contender, size, absent=str(error))
    finally:
        workers.report.done()
    return GrowthPoint(
        axis.key,
        contender,
        size,
        seconds=statistics.median(answer["seconds"] for answer in answers),
        start_seconds=statistics.median(answer["start_seconds"] for answer in answers),
        memory_mb=max(answer["memory_mb"] for answer in answers),
    )
