"""`tf.contrib.rnn`: variables, outputs, states and gradients of its cells as TensorFlow 1.15.5 gave them."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf
from tests.compat.contrib import rnn_cases, same

from lightwell import tf1

v1 = tf.compat.v1
rnn = tf1.contrib.rnn
RECORDED = same.recorded("rnn")


@pytest.mark.parametrize("name", sorted(rnn_cases.CASES))
def test_as_recorded(name: str) -> None:
    same.assert_same(same.outcome(rnn_cases.CASES[name], tf1.contrib), RECORDED["cases"][name], name)


def test_sizes_as_recorded() -> None:
    same.assert_same(rnn_cases.facts(tf1.contrib), RECORDED["facts"], "sizes")


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (lambda: rnn.GRUBlockCell(), "exactly one of num_units or cell_size must be provided"),
        (lambda: rnn.AttentionCellWrapper(rnn.LSTMCell(2), 3, state_is_tuple=False), "state_is_tuple is not set"),
        (lambda: rnn.AttentionCellWrapper(rnn.GRUCell(2), 0), "attn_length should be greater than zero, got 0"),
        (lambda: rnn.ConvLSTMCell(2, [4, 2], 3, [3]), "Invalid input_shape"),
        (lambda: rnn.OutputProjectionWrapper(rnn.GRUCell(2), 0), "output_size must be > 0: 0"),
        (lambda: rnn.EmbeddingWrapper(rnn.GRUCell(2), 0, 3), "Both embedding_classes and embedding_size must be > 0"),
        (lambda: rnn.stack_bidirectional_rnn([], [], []), "Must specify at least one fw cell"),
        (
            lambda: rnn.stack_bidirectional_dynamic_rnn([rnn.GRUCell(2)], [], tf.zeros([1, 2, 3])),
            "Forward and Backward cells must have the same depth",
        ),
        (lambda: rnn.LSTMBlockFusedCell(2)(tf.zeros([2, 3, 4])), "Either initial_state or dtype needs to be specified"),
        (lambda: rnn.LSTMBlockFusedCell(2)(tf.zeros([2, 3])), r"expected inputs \[time, batch, depth\]"),
        (
            lambda: rnn.IntersectionRNNCell(2)(tf.zeros([1, 3]), tf.zeros([1, 2])),
            "Must have input size == output size for Intersection RNN",
        ),
        (lambda: rnn.transpose_batch_time(tf.zeros([2])), "expected a tensor of rank 2 or more"),
    ],
)
def test_refused(action: Any, text: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=text):
        action()


def test_an_absent_cell_says_how_to_write_it() -> None:
    with pytest.raises(
        AttributeError, match=r"tf\.contrib\.rnn\.GridLSTMCell is gone: .* over tf\.compat\.v1\.nn\.rnn_cell\.RNNCell"
    ):
        rnn.GridLSTMCell(3)


def test_dropout_of_the_normalised_lstm_keeps_a_share() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        cell = rnn.LayerNormBasicLSTMCell(200, dropout_keep_prob=0.4, dropout_prob_seed=3)
        _, state = cell(tf.ones([1, 2]), cell.zero_state(1, tf.float32))
        sure = rnn.LayerNormBasicLSTMCell(200, dropout_keep_prob=tf.constant(1.0))
        with v1.variable_scope("sure"):
            _, whole = sure(tf.ones([1, 2]), sure.zero_state(1, tf.float32))
        session.run(v1.global_variables_initializer())
        values, of_whole = session.run([state.c, whole.c])
    # Units whose new input was dropped share one value: that of nothing.
    _, counts = values.round(5)[0], len(set(values.round(5)[0]))
    assert 40 < counts < 120
    assert len(set(of_whole.round(5)[0])) > 150


def test_small_helpers_of_sequences() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        turned = session.run(rnn.transpose_batch_time(tf.constant([[[1], [2]], [[3], [4]], [[5], [6]]])))
        assert turned.tolist() == [[[1], [3], [5]], [[2], [4], [6]]]
        assert rnn.best_effort_input_batch_size([tf.zeros([2, 7, 1])]) == 7
        unknown = v1.placeholder_with_default(tf.zeros([2, 5, 1]), [None, None, 1])
        assert session.run(rnn.best_effort_input_batch_size([unknown])) == 5
        assert session.run(rnn.transpose_batch_time(unknown)).shape == (5, 2, 1)
