"""Programs whose only outcome is the names of their variables, run here and in the oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tests.model.rnn_cell.cases import user_cells

v1 = tf.compat.v1


def step(cell: Any, **kwargs: Any) -> Any:
    return cell(tf.ones([2, 5]), cell.zero_state(2, tf.float32), **kwargs)


def unroll(cell: Any, **kwargs: Any) -> Any:
    return v1.nn.dynamic_rnn(cell, tf.ones([2, 3, 5]), dtype=tf.float32, **kwargs)


def programs(rc: Any) -> dict[str, Callable[[], Any]]:
    """Programs by name. One that is refused says so by its exception."""
    own = user_cells(rc)

    def side_by_side() -> None:
        step(rc.LSTMCell(3)), step(rc.LSTMCell(3)), step(rc.GRUCell(3, name="g")), step(rc.GRUCell(3, name="g"))

    def called_twice() -> None:
        cell = rc.LSTMCell(3)
        step(cell), step(cell), unroll(cell)

    def one_scope_after_another() -> None:
        for name in ("a", "b"):
            with v1.variable_scope(name):
                step(rc.LSTMCell(3)), unroll(rc.GRUCell(3)), unroll(rc.GRUCell(3), scope="mine")

    def given_scopes() -> None:
        step(rc.LSTMCell(3), scope="text")
        with v1.variable_scope("outer"), v1.variable_scope("object") as scope:
            pass
        step(rc.GRUCell(3), scope=scope)
        step(rc.MultiRNNCell([rc.GRUCell(3)]), scope="stack")
        step(rc.DropoutWrapper(rc.GRUCell(3)), scope="wrapped")
        step(own["with_call"](3), scope="own")

    def reused_scope() -> None:
        with v1.variable_scope("a"):
            step(rc.LSTMCell(3))
        with v1.variable_scope("a", reuse=True):
            step(rc.LSTMCell(3))
        with v1.variable_scope("a", reuse=v1.AUTO_REUSE):
            step(rc.LSTMCell(3)), step(rc.LSTMCell(3))

    def reusing_cells() -> None:
        with v1.variable_scope("a"):
            step(rc.LSTMCell(3))
            step(rc.LSTMCell(3, reuse=True)), step(rc.LSTMCell(3, reuse=True))
            step(rc.GRUCell(3, reuse=v1.AUTO_REUSE)), step(rc.GRUCell(3, reuse=v1.AUTO_REUSE))

    def partitioned() -> None:
        with v1.variable_scope("p", partitioner=v1.fixed_size_partitioner(2)):
            step(rc.LSTMCell(4, use_peepholes=True, num_proj=2)), unroll(rc.GRUCell(4)), step(own["with_call"](4))

    def two_stacks() -> None:
        step(rc.MultiRNNCell([rc.GRUCell(3)])), step(rc.MultiRNNCell([rc.LSTMCell(3)]))

    def built_by_hand() -> None:
        cell = rc.GRUCell(3)
        cell.build((None, 5))
        step(cell), step(rc.GRUCell(3))

    def untrainable() -> None:
        step(rc.GRUCell(3, trainable=False))

    return {
        "side_by_side": side_by_side,
        "called_twice": called_twice,
        "one_scope_after_another": one_scope_after_another,
        "given_scopes": given_scopes,
        "reused_scope": reused_scope,
        "reusing_cells": reusing_cells,
        "partitioned": partitioned,
        "two_stacks": two_stacks,
        "built_by_hand": built_by_hand,
        "untrainable": untrainable,
        "same_name_in_one_rnn": lambda: (unroll(rc.GRUCell(3)), unroll(rc.GRUCell(3))),
        "reuse_of_nothing": lambda: step(rc.GRUCell(3, reuse=True)),
        "own_cells_side_by_side": lambda: (step(own["with_call"](3)), step(own["with_call"](3))),
        "overriding_twice": lambda: (step(own["overriding"](3)), step(own["overriding"](3))),
    }


def outcome(program: Callable[[], Any]) -> dict[str, Any]:
    """What a program leaves in a fresh graph: names and shapes, or the kind of its refusal."""
    with tf.Graph().as_default():
        try:
            program()
        except ValueError:
            return {"refused": True}
        trainable = {id(variable) for variable in v1.trainable_variables()}
        return {
            variable.op.name: [variable.shape.as_list(), id(variable) in trainable]
            for variable in v1.global_variables()
        }
