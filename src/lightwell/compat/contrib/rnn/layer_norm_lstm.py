"""The LSTM with layer normalization and recurrent dropout (Ba et al., 2016; Semeniuta et al., 2016)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.compat.contrib.rnn.affine import affine, normalized
from lightwell.model.rnn_cell.base import RNNCell
from lightwell.model.rnn_cell.options import activation_of, units_of
from lightwell.model.rnn_cell.state import LSTMStateTuple, expect_pair


class LayerNormBasicLSTMCell(RNNCell):
    """An LSTM whose gates and memory are normalised.

    Args:
        num_units: width of the memory and of the output.
        forget_bias: added to the forget gate.
        input_size: without effect.
        activation: of the new input and of the memory.
        layer_norm: whether to normalise; without it there is a `bias`.
        norm_gain: first value of every `gamma`.
        norm_shift: first value of every `beta`.
        dropout_keep_prob: the share of the new input to keep: a number or a scalar tensor.
        dropout_prob_seed: seed of that choice.
        reuse: whether to take variables that exist already in the cell's scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Any = tf.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if input_size is not None:
            logger.warning("LayerNormBasicLSTMCell: input_size is without effect.")
        self._num_units = units_of("LayerNormBasicLSTMCell", num_units)
        self._forget_bias = forget_bias
        self._activation = activation_of("LayerNormBasicLSTMCell", activation)
        self._layer_norm = layer_norm
        self._gain, self._shift = norm_gain, norm_shift
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        memory, hidden = expect_pair("LayerNormBasicLSTMCell", state, self.state_size)
        # Without a first value of its own, the bias is drawn like the kernel.
        scopes = tf.compat.v1.get_variable_scope().initializer or tf.compat.v1.glorot_uniform_initializer()
        total = affine([inputs, hidden], 4 * self._num_units, use_bias=not self._layer_norm, bias_initializer=scopes)
        write, new, keep, show = tf.split(total, 4, axis=1)
        write, new = self._normed(write, "input"), self._normed(new, "transform")
        keep, show = self._normed(keep, "forget"), self._normed(show, "output")

        new = self._activation(new)
        if tf.is_tensor(self._keep_prob) or self._keep_prob < 1:
            new = tf.nn.dropout(new, rate=1 - self._keep_prob, seed=self._seed)
        memory = memory * tf.sigmoid(keep + self._forget_bias) + tf.sigmoid(write) * new
        memory = self._normed(memory, "state")
        hidden = self._activation(memory) * tf.sigmoid(show)
        return hidden, LSTMStateTuple(memory, hidden)

    def _normed(self, values: Any, name: str) -> Any:
        return normalized(values, name, gain=self._gain, shift=self._shift) if self._layer_norm else values
