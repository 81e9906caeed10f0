"""Fetches prepared once give what `Session.run` gives."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell.engine.calls import CachedCalls

v1 = tf.compat.v1
Two = namedtuple("Two", "a b")


class Counting:
    """A session that counts how often it prepares and runs."""

    def __init__(self, session: Any) -> None:
        self.session, self.prepared, self.ran = session, 0, 0

    def make_callable(self, *args: Any, **kwargs: Any) -> Any:
        self.prepared += 1
        return self.session.make_callable(*args, **kwargs)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        self.ran += 1
        return self.session.run(*args, **kwargs)


@pytest.fixture
def session() -> Iterator[Counting]:
    with tf.Graph().as_default(), v1.Session() as opened:
        tf.constant(1.0, name="one")
        tf.constant(2.0, name="two")
        tf.no_op("nothing")
        v1.placeholder(tf.float32, [], name="fed")
        yield Counting(opened)


def tensor(session: Counting, name: str) -> Any:
    return session.session.graph.get_tensor_by_name(f"{name}:0")


def test_structures_come_back_as_they_were_asked(session: Counting) -> None:
    one, two = tensor(session, "one"), tensor(session, "two")
    nothing = session.session.graph.get_operation_by_name("nothing")
    calls = CachedCalls(session)  # type: ignore[arg-type]
    assert calls.run(one) == 1
    assert calls.run([one, two]) == [1, 2]
    assert calls.run({"x": one, "y": [two, nothing]}) == {"x": 1, "y": [2, None]}
    assert calls.run(Two(one, {"z": two})) == Two(1, {"z": 2})
    assert calls.run("one:0") == 1
    found = calls.run(OrderedDict(b=one, a=two))
    assert list(found) == ["b", "a"]


def test_composite_tensors(session: Counting) -> None:
    sparse = tf.sparse.from_dense([0.0, 3.0])
    ragged = tf.ragged.constant([[1], [2, 3]])
    calls = CachedCalls(session)  # type: ignore[arg-type]
    for _ in range(2):
        found = calls.run({"s": sparse, "r": ragged})
        assert np.array_equal(found["s"].values, [3])
        assert found["r"].to_list() == [[1], [2, 3]]


def test_the_same_fetches_are_prepared_once(session: Counting) -> None:
    one, two = tensor(session, "one"), tensor(session, "two")
    calls = CachedCalls(session)  # type: ignore[arg-type]
    for _ in range(5):
        calls.run({"x": one, "y": [two]})
    assert (session.prepared, session.ran) == (1, 0)
    calls.run({"x": two, "y": [one]})
    assert session.prepared == 2


def test_feeds_and_options_are_run_as_they_are(session: Counting) -> None:
    fed = tensor(session, "fed")
    calls = CachedCalls(session)  # type: ignore[arg-type]
    assert calls.run(fed, {fed: 3.0}) == 3
    about = v1.RunMetadata()
    traced = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
    assert calls.run({"x": tensor(session, "one")}, None, traced, about) == {"x": 1}
    assert about.HasField("step_stats")


def test_endless_new_fetches_do_not_fill_the_memory(session: Counting) -> None:
    calls = CachedCalls(session)  # type: ignore[arg-type]
    one = tensor(session, "one")
    for number in range(100):
        assert calls.run({str(number): one}) == {str(number): 1}
    assert session.prepared <= 64
    assert session.ran == 100 - session.prepared
