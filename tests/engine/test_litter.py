"""Graphs that are done with do not pile up."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
import tensorflow as tf

from lightwell.engine import litter


def graph_with(ops: int) -> Any:
    graph = tf.Graph()
    with graph.as_default():
        for _ in range(ops):
            tf.no_op()
    return graph


@pytest.fixture
def collections(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often the collector was sent; graphs go only when it comes."""
    sent: list[int] = []
    collect = gc.collect

    def spy() -> int:
        sent.append(1)
        return collect()

    monkeypatch.setattr(litter.gc, "collect", spy)
    monkeypatch.setattr(litter, "_OPS_WORTH_COLLECTING", 50)
    monkeypatch.setattr(litter, "_litter", litter._Litter())
    return sent


def test_what_was_dropped_is_freed_once_it_is_worth_it(collections: list[int]) -> None:
    gc.disable()
    try:
        dropped = []
        for _ in range(10):
            graph = graph_with(20)
            litter.note(graph)
            dropped.append(weakref.ref(graph))
            del graph
        assert 2 <= len(collections) <= 4
        assert len([ref for ref in dropped if ref() is not None]) <= 4
    finally:
        gc.enable()


def test_what_is_in_use_does_not_send_the_collector_again_and_again(collections: list[int]) -> None:
    held = [graph_with(100)]
    for graph in held:
        litter.note(graph)
    for _ in range(20):
        litter.note(graph_with(1))
    assert len(collections) == 1
    assert held
