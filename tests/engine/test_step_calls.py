"""Single steps give what `Session.run` gives, whichever way they run."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw
from lightwell import _tf
from lightwell.engine import faster_way, step_calls
from lightwell.engine.build import Recipe, build
from lightwell.engine.faster_way import may_stay_in_thread
from lightwell.engine.step_calls import StepCalls

v1 = tf.compat.v1
Two = namedtuple("Two", "a b")
ENOUGH = step_calls._STEPS_BEFORE_TRIAL + step_calls._STEPS_A_TURN * step_calls._TURNS


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), v1.Session() as opened:
        counter = v1.get_variable("counter", initializer=0, use_resource=True)
        after = tf.identity(counter.assign_add(1), name="after")
        tf.constant(2.5, name="two")
        tf.constant(["a", "b"], name="text")
        tf.sparse.from_dense([0.0, 3.0])
        tf.group(after, name="nothing")
        opened.run(counter.initializer)
        yield opened


def tensor(session: Any, name: str) -> Any:
    return session.graph.get_tensor_by_name(f"{name}:0")


def calls_for(session: Any, may_stay: bool = True) -> StepCalls:
    return StepCalls(session, (tensor(session, "after"), session.graph.get_operation_by_name("nothing")), may_stay)


def ways(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Notes which ways are prepared."""
    made: list[bool] = []
    original = _tf.prepared_call

    def noting(session: Any, fetches: Any, targets: Any, in_this_thread: bool) -> Any:
        made.append(in_this_thread)
        return original(session, fetches, targets, in_this_thread)

    monkeypatch.setattr(_tf, "prepared_call", noting)
    return made


def test_structures_come_back_as_a_session_gives_them(session: Any) -> None:
    two, text = tensor(session, "two"), tensor(session, "text")
    nothing = session.graph.get_operation_by_name("nothing")
    wanted = {1: two, 2: {"x": [two, text], "y": (nothing,)}, 3: Two(text, two), 4: "two:0", 5: [], 6: {}}
    expected = session.run({key: value for key, value in wanted.items() if key < 5})
    found = calls_for(session).run(wanted)
    assert found is not None
    step, results = found
    assert step == [2, None]
    assert (results[5], results[6]) == ([], {})
    for key, value in expected.items():
        tf.nest.assert_same_structure(results[key], value)
        for ours, theirs in zip(tf.nest.flatten(results[key]), tf.nest.flatten(value), strict=True):
            assert type(ours) is type(theirs)
            np.testing.assert_array_equal(ours, theirs)
    assert isinstance(results[3], Two)


def test_variables_are_fetched_by_value(session: Any) -> None:
    variable = next(iter(session.graph.get_collection(v1.GraphKeys.GLOBAL_VARIABLES)))
    found = calls_for(session).run({1: variable})
    assert found is not None
    assert found[1][1] in (0, 1)  # before or after the step: nobody says which


def test_what_only_a_session_can_fetch_is_left_to_it(session: Any) -> None:
    calls = calls_for(session)
    sparse = tf.sparse.from_dense([0.0, 3.0])
    assert calls.run({1: sparse}) is None
    assert calls.run({1: {"x": [sparse]}}) is None
    assert session.run("counter/Read/ReadVariableOp:0") == 0, "no step may have run"


def test_a_list_that_changes_is_seen(session: Any) -> None:
    two, text = tensor(session, "two"), tensor(session, "text")
    calls, wanted = calls_for(session), [two]
    assert calls.run({1: wanted})[1] == {1: [2.5]}  # type: ignore[index]
    wanted[0] = text
    assert list(calls.run({1: wanted})[1][1][0]) == [b"a", b"b"]  # type: ignore[index]


def test_every_step_runs_once_and_both_ways_are_tried(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made, two = ways(monkeypatch), tensor(session, "two")
    calls = calls_for(session)
    for number in range(1, ENOUGH + 20):
        found = calls.run({1: two})
        assert found == ([number, None], {1: 2.5})
        assert made == (
            [False] if number <= step_calls._STEPS_BEFORE_TRIAL + step_calls._STEPS_A_TURN else [False, True]
        )


def test_steps_that_take_long_are_not_prepared_twice(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ways(monkeypatch)
    monkeypatch.setattr(faster_way, "_SMALL", 0.0)
    calls = calls_for(session)
    for _ in range(ENOUGH):
        calls.run({})
    assert made == [False]


def test_the_pool_alone_where_steps_may_not_stay(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made, calls = ways(monkeypatch), calls_for(session, may_stay=False)
    for _ in range(ENOUGH):
        calls.run({})
    assert made == [False]


def test_endless_new_fetches_do_not_fill_the_memory(session: Any) -> None:
    calls, two = calls_for(session), tensor(session, "two")
    answered = [calls.run({number: two}) is not None for number in range(100)]
    assert sum(answered) == step_calls._MOST_PREPARED


def _slices() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices((np.zeros((4, 1), np.float32), np.zeros(4, np.float32)))


def _fed_by_the_user() -> Any:
    rows = v1.placeholder(tf.float32, [None, 1])
    return v1.data.make_initializable_iterator(tf.data.Dataset.from_tensors((rows, rows[:, 0])))


@pytest.mark.parametrize(
    ("input_fn", "may"),
    [
        (lambda: _slices().batch(2), True),
        (lambda: _slices().map(lambda x, y: (x, y)).batch(2).prefetch(1), True),
        (lambda: _slices().map(lambda x, y: (x, y), num_parallel_calls=2).batch(2), False),
        (lambda: _fed_by_the_user().get_next(), False),
        (lambda: (tf.zeros([2, 1]), tf.zeros([2])), True),
    ],
)
def test_where_steps_may_stay(input_fn: Any, may: bool) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        loss = tf.reduce_mean(lw.layers.dense(features, 1)) + tf.reduce_mean(labels)
        step = v1.train.get_global_step()
        return lw.EstimatorSpec(mode, loss=loss, train_op=v1.train.AdamOptimizer().minimize(loss, step))

    program = build(Recipe(model_fn, input_fn, "train", {}, lw.RunConfig()))
    assert may_stay_in_thread(program, "") is may
    assert not may_stay_in_thread(program, "grpc://elsewhere:1")
