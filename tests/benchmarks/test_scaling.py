"""The page of scaling: from canned numbers, and what its estimate says at the ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.environments import ROOT
from benchmarks.scaling_report import in_a_ring, over_servers, sent_per_step, write_page


def test_servers_are_the_limit_once_their_links_are_full() -> None:
    step, weights, link = 0.01, 1e6, 1e9
    assert over_servers(1, 1, link, step, weights) == pytest.approx(1 / 0.012)
    assert over_servers(100, 1, link, step, weights) == 1000
    assert over_servers(100, 16, link, step, weights) == pytest.approx(100 / 0.012)


def test_a_ring_sends_twice_the_weights_at_most() -> None:
    assert in_a_ring(1, 1e9, 0.01, 1e6) == pytest.approx(100)
    assert in_a_ring(100, 1e9, 0.01, 1e6) == pytest.approx(100 / (0.01 + 1.98e-3))
    assert [sent_per_step(kind, 2, 10.0) for kind in ("one", "ps", "together")] == [0.0, 20.0, 20.0]


def test_the_page_tells_how_busy_the_machine_was_and_what_is_an_estimate(tmp_path: Path) -> None:
    kept = json.loads((ROOT / "benchmarks" / "scaling.json").read_text())
    for row in kept["arrangements"].values():
        row["load_before"] = 9.5
    write_page(kept, tmp_path)
    page = (tmp_path / "SCALING.md").read_text()
    assert "load 9.5 when it began" in page
    assert "other work ran beside it" in page
    assert "An estimate, not a measurement" in page
    assert "nothing beyond two workers was run" in page
    for row in kept["arrangements"].values():
        assert row["title"] in page
    assert (tmp_path / "images" / "scaling.png").exists()


def test_measured_bytes_are_those_of_the_variables() -> None:
    """What was written down: weights and gradients of a step, and a few headers."""
    kept = json.loads((ROOT / "benchmarks" / "scaling.json").read_text())
    for row in kept["arrangements"].values():
        sent = sent_per_step(row["kind"], row["workers"], kept["model"]["weight_bytes"])
        assert sent <= row["bytes_per_step"] <= 1.05 * sent
