"""The LSTM with peepholes, clipping and projection (Sak et al., 2014, arXiv 1402.1128)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.model.rnn_cell.base import LayerRNNCell
from lightwell.model.rnn_cell.options import activation_of, units_of
from lightwell.model.rnn_cell.state import LSTMStateTuple, expect_pair, expect_tensor


class LSTMCell(LayerRNNCell):
    """A long short-term memory cell.

    Args:
        num_units: width of the memory.
        use_peepholes: whether the gates see the memory, through one weight per unit (`w_f_diag`, `w_i_diag`,
            `w_o_diag`).
        cell_clip: bound of the memory's values.
        initializer: of the kernel, the peepholes and the projection; the variable scope's when left out.
        num_proj: width of the output when it is projected.
        proj_clip: bound of the projected output's values; without effect when `num_proj` is left out.
        num_unit_shards: into how many pieces to cut the kernel.
        num_proj_shards: into how many pieces to cut the projection.
        forget_bias: added to the forget gate, so that a new cell remembers.
        state_is_tuple: whether the state is `LSTMStateTuple(c, h)` or one tensor with both side by side.
        activation: of the new input and of the memory: a function or its name; tanh when left out.
        reuse: whether to take variables that exist already in the cell's scope.
        name: the cell's scope.
        dtype: type of the variables; that of the first input when left out.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self._num_units = units_of("LSTMCell", num_units)
        self._num_proj = units_of("LSTMCell", num_proj, argument="num_proj") if num_proj else None
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._proj_clip = proj_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_of("LSTMCell", activation)

    @property
    def _sizes(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def state_size(self) -> Any:
        return self._sizes if self._state_is_tuple else sum(self._sizes)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def _make_variables(self, depth: int) -> None:
        units = self._num_units
        self._kernel = self._matrix("kernel", depth + self.output_size, 4 * units, shards=self._num_unit_shards)
        self._bias = self.add_variable("bias", shape=[4 * units], initializer="zeros")
        if self._use_peepholes:
            self._w_f_diag, self._w_i_diag, self._w_o_diag = (
                self.add_variable(f"w_{gate}_diag", shape=[units], initializer=self._initializer) for gate in "fio"
            )
        if self._num_proj:
            self._proj_kernel = self._matrix("projection/kernel", units, self._num_proj, shards=self._num_proj_shards)

    def _matrix(self, name: str, rows: int, columns: int, *, shards: int | None) -> Any:
        partitioner = tf.compat.v1.fixed_size_partitioner(shards) if shards else None
        return self.add_variable(name, shape=[rows, columns], initializer=self._initializer, partitioner=partitioner)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        memory, hidden = self._halves(state)
        total = tf.nn.bias_add(tf.matmul(tf.concat([inputs, hidden], 1), self._kernel), self._bias)
        write, new, keep, show = tf.split(total, num_or_size_splits=4, axis=1)

        memory = self._updated_memory(memory, write=write, new=new, keep=keep)
        hidden = self._project(self._gate(show, memory, "o") * self._activation(memory))
        return hidden, LSTMStateTuple(memory, hidden) if self._state_is_tuple else tf.concat([memory, hidden], 1)

    def _updated_memory(self, memory: Any, *, write: Any, new: Any, keep: Any) -> Any:
        retained = self._gate(keep + self._forget_bias, memory, "f") * memory
        updated = retained + self._gate(write, memory, "i") * self._activation(new)
        if self._cell_clip is None:
            return updated
        return tf.clip_by_value(updated, -self._cell_clip, self._cell_clip)

    def _gate(self, total: Any, memory: Any, gate: str) -> Any:
        if self._use_peepholes:
            total = total + getattr(self, f"_w_{gate}_diag") * memory
        return tf.sigmoid(total)

    def _project(self, hidden: Any) -> Any:
        if not self._num_proj:
            return hidden
        projected = tf.matmul(hidden, self._proj_kernel)
        if self._proj_clip is None:
            return projected
        return tf.clip_by_value(projected, -self._proj_clip, self._proj_clip)

    def _halves(self, state: Any) -> tuple[Any, Any]:
        if self._state_is_tuple:
            pair = expect_pair("LSTMCell", state, self._sizes)
            return pair.c, pair.h
        memory, hidden = tf.split(expect_tensor("LSTMCell", state, self.state_size), list(self._sizes), axis=1)
        return memory, hidden
