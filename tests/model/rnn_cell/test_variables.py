"""What a cell says of its variables, its scope, its type and its losses."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf
from tests.model.rnn_cell.cases import user_cells
from tests.model.rnn_cell.scopes import step, unroll

from lightwell import rnn_cell as rc
from lightwell.model.layers.base import Layer

v1 = tf.compat.v1
OWN = user_cells(rc)


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def names(variables: Any) -> list[str]:
    return [variable.op.name for variable in variables]


def test_a_cell_is_a_layer_and_lists_its_variables() -> None:
    cell = rc.LSTMCell(3)
    assert isinstance(cell, Layer)
    assert cell.variables == []
    step(cell)
    assert names(cell.variables) == ["lstm_cell/kernel", "lstm_cell/bias"]
    assert cell.weights == cell.variables == cell.trainable_variables == cell.trainable_weights
    assert cell.non_trainable_variables == []
    assert cell.losses == []
    assert cell.built
    assert cell.scope_name == "lstm_cell"
    assert cell.dtype == "float32"
    assert cell.graph is v1.get_default_graph()


def test_variables_made_in_call_are_listed() -> None:
    cell = OWN["with_call"](3)
    unroll(cell)
    assert names(cell.trainable_variables) == ["rnn/with_call/w"]
    assert names(cell.non_trainable_variables) == ["rnn/with_call/inner/b"]


def test_a_stack_lists_the_variables_of_its_cells_once() -> None:
    shared = rc.GRUCell(5)
    stack = rc.MultiRNNCell([shared, shared, rc.DropoutWrapper(OWN["with_call"](5)), OWN["overriding"](5)])
    unroll(stack)
    assert sorted(names(stack.variables)) == sorted(names(v1.global_variables()))
    assert names(stack.non_trainable_variables) == ["rnn/multi_rnn_cell/cell_2/with_call/inner/b"]


@pytest.mark.parametrize("wrap", [rc.DropoutWrapper, rc.ResidualWrapper, lambda cell: rc.DeviceWrapper(cell, "/cpu:0")])
def test_a_wrapper_answers_for_its_cell(wrap: Any) -> None:
    inner = rc.LSTMCell(5)
    wrapper = wrap(inner)
    step(wrapper)
    assert wrapper.variables == inner.variables
    assert len(wrapper.variables) == 2
    assert wrapper.scope_name == "lstm_cell"
    assert wrapper.wrapped_cell is inner
    assert wrapper.state_size == rc.LSTMStateTuple(5, 5)
    assert wrapper.output_size == 5


def test_a_wrapper_builds_its_cell() -> None:
    wrapper = rc.DropoutWrapper(rc.GRUCell(3))
    wrapper.build((None, 5))
    assert names(wrapper.variables) == names(v1.global_variables())
    assert len(wrapper.variables) == 4


def test_partitioned_variables_are_listed_in_pieces() -> None:
    cell = rc.LSTMCell(4, num_unit_shards=2)
    step(cell)
    assert names(cell.variables) == ["lstm_cell/kernel/part_0", "lstm_cell/kernel/part_1", "lstm_cell/bias"]


def test_an_untrainable_cell_has_no_trainable_variables() -> None:
    cell = rc.LSTMCell(3, trainable=False)
    step(cell)
    assert cell.trainable_variables == []
    assert len(cell.non_trainable_variables) == 2


def test_the_type_follows_the_first_input() -> None:
    cell = rc.GRUCell(3)
    assert cell.dtype is None
    cell(tf.ones([2, 5], tf.float64), cell.zero_state(2, tf.float64))
    assert cell.dtype == "float64"
    assert {variable.dtype for variable in cell.variables} == {tf.float64}
    assert rc.GRUCell(3, dtype="float16").dtype == "float16"


def test_initializers_come_from_the_cell_then_the_scope() -> None:
    with v1.variable_scope("a", initializer=v1.constant_initializer(0.25)):
        step(rc.LSTMCell(2)), step(rc.LSTMCell(2, initializer="ones", use_peepholes=True, num_proj=1))
        step(rc.GRUCell(2)), step(rc.GRUCell(2, kernel_initializer="zeros", bias_initializer=v1.ones_initializer()))
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        first = {v.op.name.removeprefix("a/"): session.run(v).ravel()[0] for v in v1.global_variables()}
    assert first == {
        "lstm_cell/kernel": 0.25,
        "lstm_cell/bias": 0.0,
        "lstm_cell_1/kernel": 1.0,
        "lstm_cell_1/bias": 0.0,
        "lstm_cell_1/w_f_diag": 1.0,
        "lstm_cell_1/w_i_diag": 1.0,
        "lstm_cell_1/w_o_diag": 1.0,
        "lstm_cell_1/projection/kernel": 1.0,
        "gru_cell/gates/kernel": 0.25,
        "gru_cell/gates/bias": 1.0,
        "gru_cell/candidate/kernel": 0.25,
        "gru_cell/candidate/bias": 0.0,
        "gru_cell_1/gates/kernel": 0.0,
        "gru_cell_1/gates/bias": 1.0,
        "gru_cell_1/candidate/kernel": 0.0,
        "gru_cell_1/candidate/bias": 1.0,
    }


def test_a_scope_regularizer_reaches_the_graph() -> None:
    with v1.variable_scope("a", regularizer=lambda weight: tf.reduce_sum(weight**2)):
        unroll(rc.LSTMCell(3))
    assert len(v1.losses.get_regularization_losses()) == 2


def test_old_cells_read_their_reuse_flag() -> None:
    class Old(rc.RNNCell):
        def __init__(self, reuse: Any = None) -> None:
            super().__init__(_reuse=reuse)

        state_size = output_size = 3

        def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
            with v1.variable_scope(scope or "old", reuse=self._reuse):
                return state * v1.get_variable("w", [3]), state

    step(Old()), step(Old(reuse=True))
    assert names(v1.global_variables()) == ["old/w"]
