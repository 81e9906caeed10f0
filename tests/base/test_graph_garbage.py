"""Graphs that are done with do not pile up, whenever Python's collector comes by itself."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1


class Model:
    """A model of some hundred ops that remembers its graphs without holding them, unless told to.

    `ages`: the collector comes by while it is built, so that it is not young any more.
    """

    def __init__(self, ops: int, hold: bool = False, ages: bool = False) -> None:
        self.ops, self.hold, self.ages = ops, hold, ages
        self.graphs: list[weakref.ref[Any]] = []
        self.held: list[Any] = []

    def __call__(self, features: Any, labels: Any, mode: str) -> Any:
        graph = v1.get_default_graph()
        self.graphs.append(weakref.ref(graph))
        self.held += [graph] if self.hold else []
        for _ in range(self.ops):
            tf.no_op()
        if self.ages:
            gc.collect(1)
        return tiny.linear(features, labels, mode, {})

    def build(self, times: int) -> None:
        est = lw.Estimator(self, "unused")
        for _ in range(times):
            est.describe(tiny.once, lw.ModeKeys.PREDICT)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How often the collector was sent through all objects; by itself it does not come meanwhile."""
    collect, calls = gc.collect, []

    def counted(generation: int = 2) -> int:
        calls.extend([1] * (generation == 2))
        return collect(generation)

    collect()
    gc.disable()
    monkeypatch.setattr(gc, "collect", counted)
    yield calls
    gc.enable()


def _alive(model: Model) -> int:
    return len([graph for graph in model.graphs if graph() is not None])


def test_what_was_dropped_is_freed_once_it_is_worth_it(sent: list[int]) -> None:
    model = Model(ops=400, ages=True)
    model.build(times=24)
    assert 2 <= len(sent) <= 8
    assert _alive(model) <= 8


def test_what_is_young_is_freed_with_the_next_call_and_without_going_through_all(sent: list[int]) -> None:
    model = Model(ops=400)
    model.build(times=24)
    assert len(sent) == 0
    assert _alive(model) <= 2


def test_what_is_in_use_does_not_send_the_collector_again_and_again(sent: list[int]) -> None:
    in_use, small = Model(ops=3000, hold=True), Model(ops=1)
    in_use.build(times=1)
    small.build(times=20)
    assert len(sent) <= 3
    assert all(graph() is not None for graph in in_use.graphs)


def test_what_was_in_use_once_and_is_gone_does_not_excuse_what_lies_about_later(sent: list[int]) -> None:
    in_use, small, dropped = Model(ops=20_000, hold=True), Model(ops=1), Model(ops=400, ages=True)
    in_use.build(times=1)
    small.build(times=2)  # the collector finds the large graph in use
    in_use.held.clear()
    gc.collect()
    assert _alive(in_use) == 0
    dropped.build(times=24)
    assert _alive(dropped) <= 8
