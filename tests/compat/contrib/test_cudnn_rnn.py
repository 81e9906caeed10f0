"""`tf.contrib.cudnn_rnn`: cells as TensorFlow 1.15.5 had them, and layers over the variables that checkpoints hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.compat.contrib import cudnn_rnn_cases, same

from lightwell import tf1

v1 = tf.compat.v1
cudnn_rnn = tf1.contrib.cudnn_rnn


def test_cells_as_recorded() -> None:
    recorded = same.recorded("cudnn_rnn")["cases"]["cells"]
    same.assert_same(same.outcome(cudnn_rnn_cases.cells, tf1.contrib), recorded, "cells")


def test_layers_in_one_direction_are_the_cells_in_a_row() -> None:
    """The variables are those that a checkpoint of the cuDNN layer holds, by the names of its saver in 1.15."""
    x = same.inputs(6, 3, 5)
    with tf.Graph().as_default(), v1.Session() as session:
        layer = cudnn_rnn.CudnnLSTM(2, 4)
        outputs, (hidden, memory) = layer(tf.constant(x))
        again, _ = layer(tf.constant(x), initial_state=(tf.zeros([2, 3, 4]), tf.zeros([2, 3, 4])), training=False)
        names = [one.op.name for one in v1.global_variables()]
        session.run(v1.global_variables_initializer())
        out, second, h, c = session.run([outputs, again, hidden, memory])
    cells = [f"cudnn_lstm/rnn/multi_rnn_cell/cell_{place}/cudnn_compatible_lstm_cell" for place in range(2)]
    assert names == [f"{cell}/{part}" for cell in cells for part in ("kernel", "bias")]
    assert (out.shape, h.shape, c.shape) == ((6, 3, 4), (2, 3, 4), (2, 3, 4))
    np.testing.assert_allclose(out, second, rtol=1e-5)
    np.testing.assert_allclose(out[-1], h[1], rtol=1e-5)


@pytest.mark.parametrize("kind", ["CudnnGRU", "CudnnRNNTanh"])
def test_layers_in_both_directions(kind: str) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        layer = getattr(cudnn_rnn, kind)(1, 4, direction="bidirectional", name="both")
        outputs, (state,) = layer(tf.constant(same.inputs(3, 6, 5)), time_major=False, sequence_lengths=[6, 2, 4])
        names = {one.op.name.rpartition("/cell_0/")[0] for one in v1.global_variables()}
        session.run(v1.global_variables_initializer())
        out, last = session.run([outputs, state])
    assert names == {"both/stack_bidirectional_rnn"}
    np.testing.assert_allclose(out[1, 1, :4], last[0, 1], rtol=1e-5)
    np.testing.assert_allclose(out[:, 0, 4:], last[1], rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"direction": "sideways"}, "Invalid direction 'sideways'"),
        ({"input_mode": "skip_input"}, "input_mode 'skip_input' is not offered"),
        ({"dropout": 1.5}, r"dropout must be in \[0, 1\), got 1.5"),
    ],
)
def test_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        cudnn_rnn.CudnnLSTM(1, 2, **options)
    with pytest.raises(AttributeError, match=r"tf\.contrib\.cudnn_rnn\.CudnnLSTMSaveable is gone"):
        _ = cudnn_rnn.CudnnLSTMSaveable
