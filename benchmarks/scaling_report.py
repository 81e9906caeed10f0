"""The page of `benchmarks.scaling`: what was measured, and what its bytes come to with more workers.

Takes the figures of `scaling.json`; writes `SCALING.md` and `images/scaling.png`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORKERS = (1, 2, 4, 8, 16, 32, 64, 100)
LINKS = (1, 10, 25)
SERVERS = (1, 4, 16)
_MB = 1e6


def sent_per_step(kind: str, workers: int, weight_bytes: float) -> float:
    """Bytes that must travel in a step, from the variables: over parameter servers all weights to a worker and all
    gradients back; in a ring of processes each sends 2 (n - 1) / n times the weights, in all 2 (n - 1) times."""
    if kind == "ps":
        return 2 * weight_bytes
    return 2 * (workers - 1) * weight_bytes if kind == "together" else 0.0


def over_servers(workers: int, servers: int, link: float, step: float, weight_bytes: float) -> float:
    """Steps per second of all workers together: what they compute, or what the links of the servers let through.

    Args:
        workers: how many train.
        servers: how many parameter servers share the weights evenly.
        link: bytes per second, each way, of every machine's link.
        step: seconds that a worker takes for a step without the link.
        weight_bytes: all weights.
    """
    alone = step + 2 * weight_bytes / link
    return min(workers / alone, servers * link / weight_bytes)


def in_a_ring(workers: int, link: float, step: float, weight_bytes: float) -> float:
    """Batches per second of all processes together, which take every step with each other."""
    return workers / (step + 2 * (workers - 1) / workers * weight_bytes / link)


def write_page(found: dict[str, Any], out: Path) -> None:
    """Writes the page and its picture."""
    (out / "images").mkdir(exist_ok=True)
    _draw(found, out / "images" / "scaling.png")
    (out / "SCALING.md").write_text("\n\n".join(_sections(found)) + "\n", encoding="utf-8")


def _reached(rows: dict[str, Any]) -> str:
    """How far those came that train together, of what two processes do by themselves."""
    together = [row for row in rows.values() if row["kind"] not in ("one", "apart") and row["workers"] > 1]
    best = max(together, key=_speed)
    one, apart = (next(row for row in rows.values() if row["kind"] == kind) for kind in ("one", "apart"))
    return (
        f"Of those that train together the fastest, {best['title']}, reached {_speed(best) / _speed(apart):.0%} of it, "
        f"{_speed(best) / _speed(one):.2f} times one process; where the rest goes was not taken apart."
    )


def _speed(row: dict[str, Any]) -> float:
    return float(row["examples_per_second"])


def _sections(found: dict[str, Any]) -> list[str]:
    model, rows = found["model"], found["arrangements"]
    weight_bytes, batch = model["weight_bytes"], model["batch"]
    any_row = next(iter(rows.values()))
    load = min(rows.values(), key=lambda row: row["date"])["load_before"]  # later ones have that of those before
    dates = sorted(row["date"] for row in rows.values())
    alone = all(row["own_network"] for row in rows.values())
    return [
        "# Scaling",
        "Written by `python -m benchmarks.scaling` (`make bench-scaling`): real processes on one machine, joined by "
        "`TF_CONFIG` where there are several.",
        f"Measured {dates[0]} to {dates[-1]} on {any_row['cpu']}, {any_row['cores']} cores. **How busy the machine "
        f"was:** load {load:g} when it began"
        + (
            "; other work ran beside it, at a lower priority. Times are those of a busy machine; bytes are not changed "
            "by it."
            if load > 0.5 * any_row["cores"]
            else "."
        ),
        f"The model: 256 inputs, two layers of {model['units']}, 10 classes, Adam; {weight_bytes / _MB:.2f} MB of "
        f"weights. A batch has {batch} examples, and each worker (replica) takes one of its own per step. Each process "
        "that trains has one core (with two devices, two) and one thread for a matrix product; a parameter server may "
        "use both cores, and so with two workers three processes share two cores.",
        "## Measured",
        _table(rows, weight_bytes),
        "A step is one worker's own, from batch to batch: the median of stretches of 50, with the least and the most. "
        "*Not computing* is the share of it beyond the step of one process that makes a call for each step, as all "
        "processes of a cluster do (between one call and many lies what fused steps save). It holds the bytes on their "
        "way, the server's work, the wait for others and, with two workers and a server, the shared cores. Two "
        "processes that know nothing of each other show what two cores of this machine are worth: more than that is "
        f"not to be had here. {_reached(rows)}",
        "Bytes are those that the loopback device carried"
        + (" in a network of these processes alone" if alone else " (of all processes of the machine)")
        + ", beside those that follow from the variables: over parameter servers a worker reads all weights and sends "
        "all gradients; in a ring each process sends 2 (n - 1) / n times the weights. Slots of the optimizer stay on "
        "the server. What is more are the headers of TCP and gRPC, the step counter and the heartbeats.",
        "![Examples per second, measured and estimated](images/scaling.png)",
        "## Estimate: to 100 workers",
        _estimate(found),
    ]


def _table(rows: dict[str, Any], weight_bytes: float) -> str:
    single = rows.get("one_single", {}).get("step_ms")
    lines = [
        "| who trains | examples/s | a step of a worker | not computing | MB per step, measured | from the variables |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows.values():
        is_cluster = row["kind"] in ("ps", "together")
        share = f"{max(0.0, 1 - single / row['step_ms']):.0%}" if is_cluster and single else ""
        sent = sent_per_step(row["kind"], row["workers"], weight_bytes)
        carried = f"{row['bytes_per_step'] / _MB:.2f} | {sent / _MB:.2f}" if is_cluster else " | "
        spread = f"{row['step_ms']:.2f} ms ({row['step_ms_least']:.2f} to {row['step_ms_most']:.2f})"
        lines.append(f"| {row['title']} | {row['examples_per_second']:,.0f} | {spread} | {share} | {carried} |")
    return "\n".join(lines)


def _estimate(found: dict[str, Any]) -> str:
    model, step, ring_step = found["model"], *_steps(found)
    weight_bytes, batch = model["weight_bytes"], model["batch"]
    head = [*(f"{n} ps" for n in SERVERS), "all-reduce"]
    lines = [
        f"**An estimate, not a measurement.** It takes the step of a worker as it was measured over loopback, with all "
        f"that it costs besides computing ({1e3 * step:.2f} ms with one server, {1e3 * ring_step:.2f} ms in a ring of "
        f"two), and adds the time that the bytes of a step ({weight_bytes / _MB:.2f} MB each way) take on a link of so "
        "many Gbit/s, each way, of every machine, which is assumed. With parameter servers a worker reads and sends "
        "over its own link; all of them together get no more than the links of the servers carry, over which weights "
        "are spread evenly. With all-reduce a ring carries 2 (n - 1) / n times the weights in a step that all take "
        "together. Left out are latency, servers' work for many workers, stragglers, stale gradients, and that "
        "computing and sending overlap: nothing beyond two workers was run. In bold: where the servers' links are the "
        "limit.",
        f"Thousands of examples per second (batches of {batch}):",
    ]
    for gbit in LINKS:
        link = gbit * 1e9 / 8
        table = [f"| workers, {gbit} Gbit/s | " + " | ".join(head) + " |", "|---:|" + "---:|" * len(head)]
        for count in WORKERS:
            cells = []
            for servers in SERVERS:
                rate = over_servers(count, servers, link, step, weight_bytes)
                limited = rate < count / (step + 2 * weight_bytes / link)
                shown = f"{rate * batch / 1e3:,.1f}"
                cells.append(f"**{shown}**" if limited else shown)
            ring = in_a_ring(count, link, ring_step, weight_bytes) * batch / 1e3
            cells.append(f"{ring:,.1f}" if count > 1 else "")  # alone, nothing is reduced
            table.append(f"| {count} | " + " | ".join(cells) + " |")
        lines.append("\n".join(table))
    limit = 10e9 / 8 / weight_bytes
    lines.append(
        f"One server on a 10 Gbit/s link can hand out these weights {limit:,.0f} times a second and no more: it is "
        f"full at {limit * (step + 2 * weight_bytes / (10e9 / 8)):,.0f} workers of this model; n servers at n "
        "times as many. A model with more computing per weight (convolutions, larger batches) scales further, one with "
        "large tables read by rows (embeddings) moves only the rows of its batch."
    )
    return "\n\n".join(lines)


def _steps(found: dict[str, Any]) -> tuple[float, float]:
    """The seconds of a worker's step, as measured: with one server, in a ring of two."""
    rows = found["arrangements"]
    return rows["ps_1"]["step_ms"] / 1e3, rows["together_2"]["step_ms"] / 1e3


def _draw(found: dict[str, Any], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.2))
    rows = list(found["arrangements"].values())
    left.barh(range(len(rows)), [row["examples_per_second"] for row in rows], color="#2a7f62", height=0.6)
    left.set_yticks(range(len(rows)), [row["title"] for row in rows], fontsize=7)
    left.invert_yaxis()
    left.set_title("measured: examples per second", fontsize=8)
    step, ring_step = _steps(found)
    weight_bytes, batch, link = found["model"]["weight_bytes"], found["model"]["batch"], 10e9 / 8
    for servers, colour in zip(SERVERS, ("#c44536", "#c98b2b", "#9aa5b1"), strict=True):
        rates = [batch * over_servers(count, servers, link, step, weight_bytes) for count in WORKERS]
        right.plot(WORKERS, rates, "o-", color=colour, markersize=3, label=f"{servers} ps")
    rates = [batch * in_a_ring(count, link, ring_step, weight_bytes) for count in WORKERS[1:]]
    right.plot(WORKERS[1:], rates, "o-", color="#2a7f62", markersize=3, label="all-reduce")
    right.set_xscale("log")
    right.set_yscale("log")
    right.set_xlabel("workers", fontsize=8)
    right.set_title("estimated at 10 Gbit/s: examples per second", fontsize=8)
    right.legend(fontsize=7)
    right.grid(alpha=0.3)
    for panel in (left, right):
        panel.tick_params(which="both", labelsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
