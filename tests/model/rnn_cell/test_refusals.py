"""Every refusal of a cell says where, what was expected, what came, and what to do."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf
from tests.model.rnn_cell.scopes import step

from lightwell import rnn_cell as rc
from lightwell.errors import UsageError, WrongType
from lightwell.model.rnn_cell.base import LayerRNNCell

v1 = tf.compat.v1
SIMPLE = [rc.BasicRNNCell, rc.GRUCell, rc.BasicLSTMCell, rc.LSTMCell]


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def zeros(*widths: int) -> Any:
    return tuple(tf.zeros([2, width]) for width in widths)


@pytest.mark.parametrize("kind", SIMPLE)
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"num_units": 0}, UsageError, "expected num_units to be at least 1, got 0. Pass for example 128"),
        ({"num_units": "3"}, WrongType, "expected num_units to be an int, got '3'. Pass for example 128"),
        ({"num_units": 3, "activation": "nope"}, UsageError, "activation: no activation is called 'nope'.*relu"),
        ({"num_units": 3, "activation": 7}, WrongType, "activation: expected a callable, a name or None, got 7"),
        ({"num_units": 3, "foo": 1}, WrongType, "foo"),
    ],
)
def test_constructors_refuse(kind: Any, given: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=f"{kind.__name__}: .*{message}"):
        kind(**given)


@pytest.mark.parametrize("kind", SIMPLE)
@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (
            lambda: v1.placeholder(tf.float32, [2, None]),
            r"inputs.shape\[-1\] to be known, got shape \(2, None\). Set it",
        ),
        (lambda: v1.placeholder(tf.float32), r"expected inputs.shape\[-1\] to be known, got shape <unknown>"),
        (lambda: tf.ones([2, 3, 4]), r"rank 2, \[batch, depth\], got shape \(2, 3, 4\). .*dynamic_rnn"),
        (lambda: tf.ones([2, 5], tf.int32), "expected inputs of a floating point dtype, got int32. Cast them"),
    ],
    ids=["depth", "rank unknown", "rank", "dtype"],
)
def test_inputs_are_refused(kind: Any, inputs: Any, message: str) -> None:
    cell = kind(3)
    with pytest.raises(UsageError, match=f"{kind.__name__}: .*{message}"):
        cell(inputs(), cell.zero_state(2, tf.float32))


def test_inputs_of_another_width_are_refused() -> None:
    cell = rc.GRUCell(3)
    step(cell)
    with pytest.raises(UsageError, match=r"gru_cell.*size 5 on axis -1; got shape \(2, 6\)"):
        cell(tf.ones([2, 6]), cell.zero_state(2, tf.float32))


@pytest.mark.parametrize(
    ("make", "state", "error", "message"),
    [
        (
            lambda: rc.GRUCell(3),
            lambda: zeros(3, 3),
            UsageError,
            "GRUCell: expected state to be one tensor.*a tuple of 2",
        ),
        (lambda: rc.GRUCell(3), lambda: None, WrongType, "GRUCell: expected state to be one tensor.*got None. Start"),
        (
            lambda: rc.GRUCell(3),
            lambda: zeros(7)[0],
            UsageError,
            r"GRUCell: expected state of shape \[batch, 3\], got \(2, 7",
        ),
        (
            lambda: rc.BasicRNNCell(3),
            lambda: zeros(7)[0],
            UsageError,
            r"BasicRNNCell: expected state of shape \[batch, 3\]",
        ),
        (
            lambda: rc.LSTMCell(3),
            lambda: zeros(6)[0],
            WrongType,
            "LSTMCell: .* got a tensor of shape .*state_is_tuple=False",
        ),
        (
            lambda: rc.LSTMCell(3),
            lambda: None,
            WrongType,
            r"LSTMCell: expected state to be LSTMStateTuple\(c, h\), got None",
        ),
        (
            lambda: rc.LSTMCell(3),
            lambda: zeros(3, 3, 3),
            UsageError,
            "LSTMCell: .* got a tuple of 3. For stacked cells",
        ),
        (
            lambda: rc.LSTMCell(3, num_proj=2),
            lambda: zeros(3, 3),
            UsageError,
            r"expected state.h of shape \[batch, 2\]",
        ),
        (lambda: rc.BasicLSTMCell(3), lambda: zeros(4, 3), UsageError, r"BasicLSTMCell: expected state.c of shape"),
        (
            lambda: rc.BasicLSTMCell(3, state_is_tuple=False),
            lambda: zeros(3, 3),
            UsageError,
            r"BasicLSTMCell: expected state to be one tensor of shape \[batch, 6\], got a tuple of 2",
        ),
        (
            lambda: rc.MultiRNNCell([rc.GRUCell(3)] * 2),
            lambda: zeros(6)[0],
            UsageError,
            "MultiRNNCell: expected state to be a tuple of length 2, got .*zero_state",
        ),
        (lambda: rc.MultiRNNCell([rc.GRUCell(3)] * 2), lambda: zeros(3), UsageError, "a tuple of length 2, got"),
    ],
)
def test_states_are_refused(make: Any, state: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        make()(tf.ones([2, 5]), state())


@pytest.mark.parametrize(
    ("cells", "error", "message"),
    [
        (lambda: rc.GRUCell(3), WrongType, "MultiRNNCell: cells must be a list or tuple of cells, got .*Pass"),
        (list, UsageError, "MultiRNNCell: expected at least one cell, got none. Pass"),
        (
            lambda: [rc.GRUCell(3), "a"],
            WrongType,
            r"MultiRNNCell, cells\[1\]: expected an RNNCell, got 'a', which has no",
        ),
    ],
)
def test_stacks_are_refused(cells: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        rc.MultiRNNCell(cells())


def test_a_flat_stack_of_pairs_is_refused() -> None:
    with pytest.raises(
        UsageError, match=r"but state_is_tuple is False; sizes: .*LSTMStateTuple.*Leave state_is_tuple=True"
    ):
        rc.MultiRNNCell([rc.LSTMCell(3)], state_is_tuple=False)


@pytest.mark.parametrize("wrap", [rc.DropoutWrapper, rc.ResidualWrapper, lambda cell: rc.DeviceWrapper(cell, None)])
def test_only_cells_are_wrapped(wrap: Any) -> None:
    missing = "output_size, state_size, zero_state, __call__"
    with pytest.raises(WrongType, match=f"Wrapper: expected an RNNCell, got 3, which has no {missing}. Pass a cell"):
        wrap(3)


def test_a_residual_needs_an_output_like_its_input() -> None:
    with pytest.raises(
        UsageError, match=r"ResidualWrapper: .* got inputs \(2, 5\) and outputs \(2, 3\). Give the cell"
    ):
        step(rc.ResidualWrapper(rc.GRUCell(3)))


@pytest.mark.parametrize("question", ["state_size", "output_size"])
def test_a_bare_cell_has_no_sizes(question: str) -> None:
    with pytest.raises(NotImplementedError, match=f"RNNCell has no {question}. Define it as a property"):
        getattr(rc.RNNCell(), question)


def test_a_bare_cell_has_no_call() -> None:
    with pytest.raises(NotImplementedError, match=r"RNNCell has no call\(inputs, state\). Define it in the class"):
        rc.RNNCell()(tf.ones([2, 5]), tf.ones([2, 3]))
    with pytest.raises(NotImplementedError, match=r"LayerRNNCell has no _make_variables\(depth\). Define it"):
        LayerRNNCell()(tf.ones([2, 5]), tf.ones([2, 3]))
