"""Dropout that drops: how much, where, for how long, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.rnn_cell.scopes import step

from lightwell import rnn_cell as rc
from lightwell.errors import UsageError, WrongType

v1 = tf.compat.v1
WIDTH = 400


class Echo(rc.RNNCell):
    """Gives back what it gets."""

    state_size = output_size = WIDTH

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        return inputs, state


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def run(values: Any, feeds: Any = None) -> Any:
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        return session.run(values, feeds)


def echo(wrapper: Any) -> Any:
    return wrapper(tf.ones([10, WIDTH]), tf.ones([10, WIDTH]))


@pytest.mark.parametrize("as_tensor", [False, True])
@pytest.mark.parametrize("place", ["input", "output", "state"])
def test_a_share_is_dropped_and_the_rest_scaled_up(place: str, as_tensor: bool) -> None:
    keep = v1.placeholder_with_default(0.25, []) if as_tensor else 0.25
    output, state = run(echo(rc.DropoutWrapper(Echo(), **{f"{place}_keep_prob": keep})))
    dropped, untouched = (state, output) if place == "state" else (output, state)
    assert set(np.unique(dropped)) == {0.0, 4.0}
    assert 0.2 < np.mean(dropped != 0) < 0.3
    assert (untouched == 1).all()


def test_masks_differ_by_place_example_and_run() -> None:
    wrapper = rc.DropoutWrapper(Echo(), 0.5, 1.0, 0.5, seed=1)
    values = echo(wrapper)
    with v1.Session() as session:
        (output, state), (again, _) = session.run(values), session.run(values)
    assert (output != state).any()
    assert (output[0] != output[1]).any()
    assert (output != again).any()


def test_nothing_is_built_where_nothing_is_dropped() -> None:
    echo(rc.DropoutWrapper(Echo()))
    assert not [op for op in v1.get_default_graph().get_operations() if "Random" in op.type]


def test_a_keep_prob_fed_as_one_drops_nothing() -> None:
    keep = v1.placeholder(tf.float32, [])
    output, state = run(echo(rc.DropoutWrapper(Echo(), keep, keep, keep)), {keep: 1.0})
    assert (output == 1).all()
    assert (state == 1).all()


def test_a_variational_mask_serves_all_steps_and_examples() -> None:
    wrapper = rc.DropoutWrapper(
        Echo(), 0.5, variational_recurrent=True, input_size=tf.TensorShape([WIDTH]), dtype=tf.float32
    )
    outputs, _ = v1.nn.dynamic_rnn(wrapper, tf.ones([3, 4, WIDTH]), dtype=tf.float32)
    with v1.Session() as session:
        first, second = session.run(outputs), session.run(outputs)
    assert outputs.shape == (3, 4, WIDTH)
    assert set(np.unique(first)) == {0.0, 2.0}
    assert (first == first[0, 0]).all()
    assert (first != second).any()


def test_a_plain_mask_is_drawn_at_every_step() -> None:
    wrapper = rc.DropoutWrapper(Echo(), 0.5)
    outputs, _ = v1.nn.dynamic_rnn(wrapper, tf.ones([3, 4, WIDTH]), dtype=tf.float32)
    first = run(outputs)
    assert (first[:, 0] != first[:, 1]).any()


LSTM, STACK = (lambda: rc.LSTMCell(3)), (lambda: rc.MultiRNNCell([rc.LSTMCell(3), rc.GRUCell(3)]))


def by_pair(flags: Any) -> Any:
    return lambda part: flags if isinstance(part, rc.LSTMStateTuple) else True


@pytest.mark.parametrize(
    ("make", "visitor", "expected"),
    [
        (LSTM, None, [False, True]),
        (STACK, None, [False, True, True]),
        (LSTM, lambda part: True, [True, True]),
        (LSTM, lambda part: False, [False, False]),
        (LSTM, by_pair(rc.LSTMStateTuple(True, False)), [True, False]),
        (LSTM, by_pair((False, True)), [False, True]),
        (LSTM, lambda part: isinstance(part, rc.LSTMStateTuple), [False, False]),
        (STACK, lambda part: (True, False) if type(part) is tuple else True, [True, True, False]),
        (STACK, lambda part: not tf.is_tensor(part), [False, False, False]),
    ],
)
def test_the_visitor_says_what_of_the_state_is_dropped(make: Any, visitor: Any, expected: list[bool]) -> None:
    wrapper = rc.DropoutWrapper(make(), state_keep_prob=0.5, dropout_state_filter_visitor=visitor)
    _, state = step(wrapper)
    assert ["dropout" in part.op.name for part in tf.nest.flatten(state)] == expected


def test_a_state_in_a_dict_is_dropped_by_its_parts() -> None:
    class Named(rc.RNNCell):
        state_size = {"b": 3, "a": 3}  # noqa: RUF012
        output_size = 5

        def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
            return inputs, state

    def only_a(part: Any) -> Any:
        return {"a": True, "b": False} if isinstance(part, dict) else True

    _, state = step(rc.DropoutWrapper(Named(), state_keep_prob=0.5, dropout_state_filter_visitor=only_a))
    assert {key: "dropout" in part.op.name for key, part in state.items()} == {"a": True, "b": False}


@pytest.mark.parametrize("answer", [3, None, (True,), ((True, True), True)])
def test_other_answers_of_the_visitor_are_refused(answer: Any) -> None:
    wrapper = rc.DropoutWrapper(rc.LSTMCell(3), state_keep_prob=0.5, dropout_state_filter_visitor=lambda part: answer)
    with pytest.raises(WrongType, match=r"expected dropout_state_filter_visitor to return True, False .*Return True"):
        step(wrapper)


@pytest.mark.parametrize("place", ["input", "output", "state"])
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (1.1, UsageError, "must be between 0 and 1, and more than 0; got 1.1. It is the share to keep"),
        (-1, UsageError, "must be between 0 and 1, and more than 0; got -1"),
        (0.0, UsageError, "must be between 0 and 1, and more than 0; got 0.0"),
        ("0.5", WrongType, "to be a float between 0 and 1 or a scalar tensor, got '0.5'. Pass"),
        (None, WrongType, "float between 0 and 1 or a scalar tensor, got None"),
        ([0.5, 0.5], WrongType, r"float between 0 and 1 or a scalar tensor, got \[0.5, 0.5\]"),
    ],
)
def test_probabilities_out_of_range_are_refused(place: str, given: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=f"DropoutWrapper: .*{place}_keep_prob.*{message}"):
        rc.DropoutWrapper(Echo(), **{f"{place}_keep_prob": given})


def test_a_constant_tensor_out_of_range_is_refused() -> None:
    with pytest.raises(UsageError, match="input_keep_prob must be between 0 and 1"):
        rc.DropoutWrapper(Echo(), tf.constant(1.5))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"variational_recurrent": True}, UsageError, "variational_recurrent=True, dtype must be provided, got None"),
        (
            {"variational_recurrent": True, "input_keep_prob": 0.5, "dtype": tf.float32},
            UsageError,
            "input_keep_prob < 1.0 or is unknown, input_size must be provided, got None. Pass the width",
        ),
        ({"dropout_state_filter_visitor": 3}, WrongType, "dropout_state_filter_visitor must be callable, got 3. Pass"),
    ],
)
def test_what_a_variational_wrapper_needs(given: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=f"DropoutWrapper: .*{message}"):
        rc.DropoutWrapper(Echo(), **given)
