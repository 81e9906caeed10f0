"""Zero states, initial states, and the pair an LSTM carries."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
import tensorflow as tf

from lightwell import rnn_cell as rc
from lightwell.errors import UsageError, WrongType

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


class Sized(rc.RNNCell):
    output_size = 4

    def __init__(self, state_size: Any) -> None:
        self._sizes = state_size

    @property
    def state_size(self) -> Any:
        return self._sizes


class _Hidden(Sized):
    pass


def shape_of(state: Any) -> Any:
    return tf.nest.map_structure(lambda part: tuple(part.shape), state)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (3, (2, 3)),
        (tf.TensorShape([3, 4]), (2, 3, 4)),
        ([3, 4], [(2, 3), (2, 4)]),
        ({"a": 3, "b": (1, 2)}, {"a": (2, 3), "b": ((2, 1), (2, 2))}),
        (rc.LSTMStateTuple(3, 4), rc.LSTMStateTuple((2, 3), (2, 4))),
    ],
    ids=["int", "shape", "list", "dict", "pair"],
)
def test_zero_state_has_the_structure_of_state_size(sizes: Any, expected: Any) -> None:
    state = Sized(sizes).zero_state(2, tf.float64)
    assert shape_of(state) == expected
    with v1.Session() as session:
        assert all((part == 0).all() and part.dtype == "float64" for part in tf.nest.flatten(session.run(state)))


def test_zero_state_takes_a_batch_size_known_only_when_it_runs() -> None:
    batch = v1.placeholder(tf.int64, [])
    state = rc.GRUCell(3).zero_state(batch, tf.float32)
    assert state.shape.as_list() == [None, 3]
    with v1.Session() as session:
        assert session.run(state, {batch: 7}).shape == (7, 3)


def test_zero_states_are_named_after_their_cells() -> None:
    stack = rc.MultiRNNCell([rc.GRUCell(3), rc.DropoutWrapper(rc.LSTMCell(3))])
    assert [part.op.name for part in tf.nest.flatten(stack.zero_state(2, tf.float32))] == [
        "MultiRNNCellZeroState/GRUCellZeroState/zeros",
        "MultiRNNCellZeroState/DropoutWrapperZeroState/LSTMCellZeroState/zeros",
        "MultiRNNCellZeroState/DropoutWrapperZeroState/LSTMCellZeroState/zeros_1",
    ]
    assert _Hidden(3).zero_state(2, tf.float32).op.name == "HiddenZeroState/zeros"


def test_a_stack_asks_each_cell_for_its_own_first_state() -> None:
    class Ones(Sized):
        def zero_state(self, batch_size: Any, dtype: Any) -> Any:
            return tf.ones([batch_size, 3], dtype)

    class Initial:
        state_size = output_size = 3

        def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
            return tf.fill([batch_size, 3], tf.cast(2, dtype))

        def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
            return inputs, state

    stack = rc.MultiRNNCell([rc.DropoutWrapper(Ones(3)), Initial(), rc.ResidualWrapper(Initial())])
    with v1.Session() as session:
        states = session.run(stack.zero_state(1, tf.float32))
    assert [state[0, 0] for state in states] == [1, 2, 2]


def test_initial_state_fits_inputs_or_sizes() -> None:
    cell = rc.GRUCell(3)
    assert cell.get_initial_state(inputs=tf.ones([2, 5], tf.float64)).dtype == tf.float64
    assert cell.get_initial_state(batch_size=7, dtype=tf.float32).shape == (7, 3)
    assert cell.get_initial_state(inputs=v1.placeholder(tf.float32, [None, 5])).shape.as_list() == [None, 3]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"GRUCell.get_initial_state: expected inputs, or batch_size and dtype; got batch_size=None, dtype=None"),
        ({"batch_size": 3}, r"got batch_size=3, dtype=None. Pass the missing one"),
        ({"inputs": [[1.0]], "batch_size": 3}, r"inputs have the batch size 1, batch_size is 3. Pass one of the two"),
        ({"inputs": [[1.0]], "dtype": tf.float64}, r"inputs have the dtype float32, dtype is float64"),
    ],
)
def test_contradicting_sizes_are_refused(given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        rc.GRUCell(3).get_initial_state(**given)


def test_the_pair_is_a_tuple_with_names_and_a_type() -> None:
    pair = rc.LSTMStateTuple(c=1, h=2)
    assert pair == (1, 2)
    assert repr(pair) == "LSTMStateTuple(c=1, h=2)"
    assert pickle.loads(pickle.dumps(pair)) == pair
    assert rc.LSTMStateTuple(tf.ones([1]), tf.ones([1])).dtype == tf.float32
    with pytest.raises(WrongType, match=r"expected c and h of one type, got c: float32, h: float64. Cast one"):
        _ = rc.LSTMStateTuple(tf.ones([1]), tf.ones([1], tf.float64)).dtype
