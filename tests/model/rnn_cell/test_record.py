"""Which calls of cells reach the book of layers, under which names."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.rnn_cell.cases import functions, user_cells
from tests.model.rnn_cell.scopes import step, unroll

from lightwell import rnn_cell as rc
from lightwell.model.layers.record import LayerBook, recording
from lightwell.model.rnn_cell.sequences import recording_rnn

v1 = tf.compat.v1
OWN = user_cells(rc)


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


@pytest.fixture
def book() -> Any:
    with recording(LayerBook()) as opened:
        yield opened


def lines(book: LayerBook) -> list[tuple[str, int, str]]:
    return [(call.name, call.call, call.kind) for call in book]


def shape_of(values: Any) -> Any:
    return tf.nest.map_structure(lambda value: tuple(value.shape), values)


def test_a_direct_call_is_written_down_once(book: LayerBook) -> None:
    cell = rc.LSTMCell(3)
    output, state = step(cell)
    step(cell)
    assert lines(book) == [("lstm_cell", 0, "LSTMCell"), ("lstm_cell", 1, "LSTMCell")]
    first = book.calls[0]
    assert first.outputs[0] is output
    assert first.outputs[1] is state
    assert first.layer is cell
    assert list(first.variables) == cell.variables


def test_cells_inside_cells_are_written_down_too(book: LayerBook) -> None:
    dropped = rc.DropoutWrapper(rc.DeviceWrapper(rc.LSTMCell(5), "/cpu:0"), output_keep_prob=0.5)
    with v1.variable_scope("net"):
        step(rc.MultiRNNCell([dropped, rc.ResidualWrapper(OWN["overriding"](5)), OWN["with_call"](3)]))
    stack = "net/multi_rnn_cell"
    assert [(name, kind) for name, _, kind in lines(book)] == [
        (f"{stack}/cell_0/lstm_cell", "LSTMCell"),
        (f"{stack}/cell_0/lstm_cell/dropout_wrapper", "DropoutWrapper"),
        (f"{stack}/cell_1/Overriding/residual_wrapper", "ResidualWrapper"),
        (f"{stack}/cell_2/with_call", "WithCall"),
        (stack, "MultiRNNCell"),
    ]


@pytest.mark.parametrize("new_loops", [True, False])
def test_calls_inside_loops_and_branches_are_not_written_down(book: LayerBook, new_loops: bool) -> None:
    (v1.enable_control_flow_v2 if new_loops else v1.disable_control_flow_v2)()
    try:
        unroll(rc.MultiRNNCell([rc.DropoutWrapper(rc.GRUCell(3), 0.5), OWN["with_call"](3)]))
        cell = rc.LSTMCell(3)
        tf.cond(v1.placeholder(tf.bool, []), lambda: step(cell)[0], lambda: tf.zeros([2, 3]))
    finally:
        v1.enable_control_flow_v2()
    assert lines(book) == []


@pytest.mark.parametrize("new_loops", [True, False])
def test_dynamic_rnn_is_written_down_under_its_cell(book: LayerBook, new_loops: bool) -> None:
    (v1.enable_control_flow_v2 if new_loops else v1.disable_control_flow_v2)()
    cell = rc.LSTMCell(3)
    try:
        with recording_rnn():
            outputs, state = unroll(cell, sequence_length=[3, 1])
    finally:
        v1.enable_control_flow_v2()
    assert lines(book) == [("rnn/lstm_cell", 0, "LSTMCell")]
    (call,) = book
    assert call.outputs[0] is outputs
    assert call.outputs[1] is state
    assert call.inputs.shape == (2, 3, 5)
    assert [variable.op.name for variable in call.variables] == ["rnn/lstm_cell/kernel", "rnn/lstm_cell/bias"]
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        sequence, final = session.run(call.outputs)
    np.testing.assert_array_equal(sequence[0, 2], final.h[0])


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: rc.DropoutWrapper(rc.ResidualWrapper(rc.GRUCell(5)), 0.5), "net/rnn/gru_cell"),
        (lambda: rc.MultiRNNCell([rc.GRUCell(5), rc.GRUCell(3)]), "net/rnn/multi_rnn_cell"),
        (lambda: OWN["with_call"](3), "net/rnn/with_call"),
        (lambda: OWN["overriding"](3), "net/rnn/Overriding"),
        (lambda: rc.DeviceWrapper(OWN["overriding"](3), None), "net/rnn/Overriding"),
    ],
)
def test_a_sequence_has_the_name_of_the_cells_variables(book: LayerBook, make: Any, name: str) -> None:
    with recording_rnn(), v1.variable_scope("net"):
        unroll(make())
    assert [call.name for call in book] == [name]
    assert book.calls[0].variables
    assert all(variable.op.name.startswith(f"{name}/") for variable in book.calls[0].variables)
    assert len(book.calls[0].variables) == len(v1.global_variables())


@pytest.mark.parametrize("scope", ["mine", "object"])
def test_a_given_scope_is_part_of_the_name(book: LayerBook, scope: Any) -> None:
    with v1.variable_scope("net"):
        if scope == "object":
            with v1.variable_scope("object") as scope:
                pass
        with recording_rnn():
            unroll(OWN["overriding"](3), scope=scope)
    assert [call.name for call in book] == [f"net/{getattr(scope, 'name', scope).removeprefix('net/')}/Overriding"]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("static_rnn", {"rnn/lstm_cell": ([(3, 3)] * 4, rc.LSTMStateTuple((3, 3), (3, 3)))}),
        ("static_rnn_whole", {"rnn/lstm_cell": ([(3, 3)] * 4, rc.LSTMStateTuple((3, 3), (3, 3)))}),
        ("static_state_saving_rnn", {"rnn/lstm_cell": ([(3, 3)] * 4, rc.LSTMStateTuple((3, 3), (3, 3)))}),
        (
            "bidirectional_dynamic_rnn",
            {
                "bidirectional_rnn/fw/lstm_cell": ((3, 4, 3), rc.LSTMStateTuple((3, 3), (3, 3))),
                "bidirectional_rnn/bw/gru_cell": ((3, 4, 2), (3, 2)),
            },
        ),
        (
            "static_bidirectional_rnn",
            {
                "bidirectional_rnn/fw/lstm_cell": ([(3, 3)] * 4, rc.LSTMStateTuple((3, 3), (3, 3))),
                "bidirectional_rnn/bw/gru_cell": ([(3, 2)] * 4, (3, 2)),
            },
        ),
        ("raw_rnn", {"rnn/lstm_cell": (rc.LSTMStateTuple((3, 3), (3, 3)),)}),
    ],
)
def test_every_recurrent_function_is_written_down(book: LayerBook, function: str, expected: Any) -> None:
    with recording_rnn():
        functions(rc)[function]()
    assert {call.name: shape_of(call.outputs) for call in book} == expected
    assert len(book) == len(expected)


def test_the_halves_of_a_static_pair_are_its_outputs(book: LayerBook) -> None:
    with recording_rnn():
        joined, _, _ = functions(rc)["static_bidirectional_rnn"]()
    forward, backward = (call.outputs[0] for call in book)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        whole, left, right = session.run([joined, forward, backward])
    np.testing.assert_array_equal(whole, np.concatenate([left, right], axis=-1))


def test_layers_inside_a_recurrent_function_stay_out(book: LayerBook) -> None:
    with recording_rnn():
        unroll(rc.MultiRNNCell([rc.GRUCell(3), rc.DropoutWrapper(rc.GRUCell(3), 0.5)]))
        step(rc.LSTMCell(3))
    assert [call.name for call in book] == ["rnn/multi_rnn_cell", "lstm_cell"]


def test_a_sequence_inside_a_branch_stays_out(book: LayerBook) -> None:
    cell = rc.GRUCell(3)
    with recording_rnn():
        tf.cond(v1.placeholder(tf.bool, []), lambda: unroll(cell)[1], lambda: tf.zeros([2, 3]))
    assert lines(book) == []


def test_the_functions_are_put_back() -> None:
    before = {name: getattr(v1.nn, name) for name in dir(v1.nn) if name.endswith("_rnn")}
    assert len(before) == 6
    outer, inner = recording_rnn(), recording_rnn()
    outer.__enter__()
    inner.__enter__()
    during = v1.nn.dynamic_rnn
    outer.__exit__(None, None, None)
    assert v1.nn.dynamic_rnn is during is not before["dynamic_rnn"]
    inner.__exit__(None, None, None)
    assert {name: getattr(v1.nn, name) for name in before} == before
    with pytest.raises(ZeroDivisionError), recording_rnn():
        _ = 1 / 0
    assert v1.nn.dynamic_rnn is before["dynamic_rnn"]


def test_nested_recordings_write_one_line(book: LayerBook) -> None:
    with recording_rnn(), recording_rnn():
        unroll(rc.GRUCell(3))
    assert len(book) == 1


def test_every_door_to_a_function_records(book: LayerBook) -> None:
    import tensorflow.compat.v1.nn as imported

    space: dict[str, Any] = {}
    exec("from tensorflow.compat.v1.nn import dynamic_rnn", space)
    program = ModuleType("a_program")
    vars(program).update(space)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "a_program", program)
        with recording_rnn():
            for number, home in enumerate([v1.nn, imported, program]):
                with v1.variable_scope(f"net_{number}"):
                    home.dynamic_rnn(rc.GRUCell(3), tf.zeros([2, 4, 3]), dtype=tf.float32)
    assert [name for name, _, _ in lines(book)] == [f"net_{number}/rnn/gru_cell" for number in range(3)]


def test_cells_that_a_recurrent_function_steps_through_are_hidden_with_the_reason(book: LayerBook) -> None:
    with recording_rnn():
        unroll(rc.MultiRNNCell([rc.GRUCell(3), rc.DropoutWrapper(rc.GRUCell(3), 0.5)]))
    assert [call.name for call in book] == ["rnn/multi_rnn_cell"]
    reason = "is called step by step inside tf.compat.v1.nn.dynamic_rnn; a path reads the whole sequence that comes out"
    stack = "rnn/multi_rnn_cell"
    assert dict(book.hidden) == {
        f"{stack}/cell_0/gru_cell": reason,
        f"{stack}/cell_1/gru_cell": reason,
        f"{stack}/cell_1/gru_cell/dropout_wrapper": reason,
    }
