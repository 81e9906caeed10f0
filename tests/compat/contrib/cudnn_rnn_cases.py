"""Cases of `tf.contrib.cudnn_rnn`, for TensorFlow 1.15 and for Lightwell: the cells, which need no GPU."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tests.compat.contrib.same import inputs


def cells(contrib: Any) -> Any:
    x, values = tf.constant(inputs(3, 5)), {}
    for make in (contrib.cudnn_rnn.CudnnCompatibleLSTMCell, contrib.cudnn_rnn.CudnnCompatibleGRUCell):
        cell = make(4)
        state = tf.nest.map_structure(lambda zeros: zeros + 0.3, cell.zero_state(3, tf.float32))
        output, new_state = cell(x, state)
        values[make.__name__] = [output, tf.nest.flatten(new_state)]
    return {"values": values}


CASES = {"cells": cells}
