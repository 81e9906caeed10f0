"""The phased LSTM: units that open and close over time (Neil et al., 2016, arXiv 1610.09513)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.rnn.affine import affine
from lightwell.model.rnn_cell.base import RNNCell
from lightwell.model.rnn_cell.options import units_of
from lightwell.model.rnn_cell.state import LSTMStateTuple, expect_pair

_v1 = tf.compat.v1


class PhasedLSTMCell(RNNCell):
    """An LSTM cell whose inputs are `(times [batch, 1], values [batch, depth])`.

    Args:
        num_units: width of the memory and of the output.
        use_peepholes: whether the gates see the memory.
        leak: how much of a change passes a closed unit.
        ratio_on: the share of its period in which a unit is open.
        trainable_ratio_on: whether that share is trained.
        period_init_min: least first period.
        period_init_max: greatest first period.
        reuse: whether to take variables that exist already in the cell's scope.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = units_of("PhasedLSTMCell", num_units)
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on, self._is_ratio_trained = ratio_on, trainable_ratio_on
        self._periods = period_init_min, period_init_max

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        memory, hidden = expect_pair("PhasedLSTMCell", state, self.state_size)
        times, values = inputs
        seen = [values, hidden, *([memory] if self._use_peepholes else [])]
        with _v1.variable_scope("mask_gates"):
            write, keep = tf.split(tf.sigmoid(affine(seen, 2 * self._num_units)), 2, axis=1)
        with _v1.variable_scope("new_input"):
            new = tf.tanh(affine([values, hidden], self._num_units))
        new_memory = memory * keep + write * new
        with _v1.variable_scope("output_gate"):
            behind = [values, hidden, *([new_memory] if self._use_peepholes else [])]
            shown = tf.sigmoid(affine(behind, self._num_units))
        new_hidden = tf.tanh(new_memory) * shown
        openness = self._openness(times, values.dtype)
        memory = openness * new_memory + (1 - openness) * memory
        hidden = openness * new_hidden + (1 - openness) * hidden
        return hidden, LSTMStateTuple(memory, hidden)

    def _openness(self, times: Any, dtype: Any) -> Any:
        units = [self._num_units]
        low, high = self._periods
        period = _v1.get_variable("period", units, initializer=_log_uniform(low, high))
        phase = _v1.get_variable("phase", units, initializer=_shifts(period))
        ratio = _v1.get_variable(
            "ratio_on", units, initializer=_v1.constant_initializer(self._ratio_on), trainable=self._is_ratio_trained
        )
        since = tf.cast(times, dtype) - phase
        # The gradient passes as if no period had ended yet, as it did in TensorFlow 1.
        place = (since + tf.stop_gradient(tf.math.floormod(since, period) - since)) / period
        rising, falling = 2 * place / ratio, 2 - 2 * place / ratio
        closed = self._leak * place
        return tf.where(place < ratio / 2, rising, tf.where(place < ratio, falling, closed))


def _log_uniform(low: float, high: float) -> Any:
    def draw(shape: Any, dtype: Any = tf.float32, partition_info: Any = None) -> Any:
        return tf.exp(tf.random.uniform(shape, tf.math.log(low), tf.math.log(high), dtype))

    return draw


def _shifts(period: Any) -> Any:
    def draw(shape: Any, dtype: Any = tf.float32, partition_info: Any = None) -> Any:
        return tf.random.uniform(shape, dtype=dtype) * period.initial_value

    return draw
