"""The LSTM whose input gate is what its forget gate leaves (Greff et al., 2015, arXiv 1503.04069)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.rnn.affine import normalized
from lightwell.errors import UsageError
from lightwell.model.rnn_cell.base import RNNCell
from lightwell.model.rnn_cell.options import activation_of, units_of
from lightwell.model.rnn_cell.state import LSTMStateTuple, expect_pair, expect_tensor

_v1 = tf.compat.v1


class CoupledInputForgetGateLSTMCell(RNNCell):
    """An LSTM cell that writes as much as it forgets.

    Args:
        num_units: width of the memory.
        use_peepholes: whether the gates see the memory (`W_F_diag`, `W_O_diag`).
        initializer: of all matrices; the scope's if None.
        num_proj: width of the output when it is projected.
        proj_clip: bound of the projected output's values.
        num_unit_shards: into how many variables the matrix is cut (`W_0`, `W_1`, ...).
        num_proj_shards: the same for the projection (`W_P_0`, ...).
        forget_bias: added to the forget gate.
        state_is_tuple: whether the state is `LSTMStateTuple(c, h)` or one tensor with both side by side.
        activation: of the new input and of the memory.
        reuse: whether to take variables that exist already in the cell's scope.
        layer_norm: whether to normalise gates and memory.
        norm_gain: first value of every `gamma`.
        norm_shift: first value of every `beta`.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = tf.tanh,
        reuse: Any = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = units_of("CoupledInputForgetGateLSTMCell", num_units)
        self._use_peepholes = use_peepholes
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._shards = num_unit_shards, num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_of("CoupledInputForgetGateLSTMCell", activation)
        self._layer_norm = layer_norm
        self._gain, self._shift = norm_gain, norm_shift

    @property
    def _sizes(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def state_size(self) -> Any:
        return self._sizes if self._state_is_tuple else sum(self._sizes)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        units = self._num_units
        memory, hidden = self._halves(state)
        joined = tf.concat([inputs, hidden], 1)
        matrix = self._sharded("W", joined.shape[-1], 3 * units, self._shards[0], joined.dtype)
        bias = _v1.get_variable("B", [3 * units], joined.dtype, _v1.zeros_initializer())
        total = tf.matmul(joined, matrix)
        # Normalised gates have their own `beta`; the bias exists for checkpoints only.
        new, keep, show = tf.split(total if self._layer_norm else tf.nn.bias_add(total, bias), 3, axis=1)
        if self._layer_norm:
            new, keep, show = (
                self._normed(gate, name) for gate, name in ((new, "transform"), (keep, "forget"), (show, "output"))
            )
        keep = tf.sigmoid(self._peeped(keep + self._forget_bias, memory, "F"))
        memory = keep * memory + (1 - keep) * self._activation(new)
        if self._layer_norm:
            memory = self._normed(memory, "state")
        hidden = tf.sigmoid(self._peeped(show, memory, "O")) * self._activation(memory)
        if self._num_proj:
            hidden = tf.matmul(hidden, self._sharded("W_P", units, self._num_proj, self._shards[1], joined.dtype))
            if self._proj_clip is not None:
                hidden = tf.clip_by_value(hidden, -self._proj_clip, self._proj_clip)
        return hidden, LSTMStateTuple(memory, hidden) if self._state_is_tuple else tf.concat([memory, hidden], 1)

    def _peeped(self, gate: Any, memory: Any, letter: str) -> Any:
        if not self._use_peepholes:
            return gate
        return gate + memory * _v1.get_variable(f"W_{letter}_diag", [self._num_units], memory.dtype, self._initializer)

    def _normed(self, values: Any, name: str) -> Any:
        return normalized(values, name, gain=self._gain, shift=self._shift)

    def _sharded(self, name: str, rows: int, columns: int, count: int, dtype: Any) -> Any:
        if count > rows:
            raise UsageError(f"CoupledInputForgetGateLSTMCell: cannot cut {rows} rows into {count} pieces.")
        sizes = [rows // count + (place < rows % count) for place in range(count)]
        pieces = [
            _v1.get_variable(f"{name}_{place}", [size, columns], dtype, self._initializer)
            for place, size in enumerate(sizes)
        ]
        return pieces[0] if count == 1 else tf.concat(pieces, 0)

    def _halves(self, state: Any) -> tuple[Any, Any]:
        if self._state_is_tuple:
            pair = expect_pair("CoupledInputForgetGateLSTMCell", state, self._sizes)
            return pair.c, pair.h
        whole = expect_tensor("CoupledInputForgetGateLSTMCell", state, self.state_size)
        memory, hidden = tf.split(whole, list(self._sizes), axis=1)
        return memory, hidden
