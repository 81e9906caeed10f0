"""A model_dir holds the files, checkpoint lists and events that tf.estimator 2.15 would have written there."""

from __future__ import annotations

from typing import Any

import pytest
from tests.parity.recordings import Pair

GRAPHS = ("graph_def", "meta_graph_def")


def without_graphs(events: list[list[Any]]) -> list[list[Any]]:
    """How often a graph is written is no promise; that it is, is tested by itself."""
    return [event for event in events if event[1] not in GRAPHS]


def test_the_same_files(any_run: Pair) -> None:
    assert any_run.ours["files"] == any_run.recorded["files"]


def test_the_same_checkpoint_list(any_run: Pair) -> None:
    assert any_run.ours["checkpoint"] == any_run.recorded["checkpoint"]


@pytest.mark.parametrize("which", ["events", "eval_events", "named_eval_events"])
def test_the_same_events_in_the_same_order(any_run: Pair, which: str) -> None:
    assert without_graphs(any_run.ours[which]) == without_graphs(any_run.recorded[which])


@pytest.mark.parametrize("which", ["events", "eval_events"])
def test_the_graph_is_in_the_events(any_run: Pair, which: str) -> None:
    kinds = {event[1] for event in any_run.ours[which]}
    assert kinds >= set(GRAPHS)
