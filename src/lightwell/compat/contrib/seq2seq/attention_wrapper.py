"""`AttentionWrapper`: a cell that looks at a memory in each step."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.seq2seq.attention import AttentionMechanism
from lightwell.errors import UsageError, WrongType
from lightwell.model.layers.dense import Dense
from lightwell.model.rnn_cell.base import RNNCell
from lightwell.model.rnn_cell.options import cell_of

_v1 = tf.compat.v1
_State = namedtuple("_State", ("cell_state", "attention", "time", "alignments", "alignment_history", "attention_state"))


class AttentionWrapperState(_State):
    """The state of an `AttentionWrapper`."""

    __slots__ = ()

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """The same state with other parts, whose shapes must fit.

        first = cell.zero_state(batch_size, tf.float32).clone(cell_state=encoder_state)
        """

        def fitting(old: Any, new: Any) -> Any:
            if not tf.is_tensor(old) or not tf.is_tensor(new):
                return new
            if not old.shape.is_compatible_with(new.shape):
                raise UsageError(
                    f"AttentionWrapperState.clone: The shape of the AttentionWrapperState is expected to be {old.shape}"
                    f", got {new.shape}."
                )
            new.set_shape(old.shape)
            return new

        made: AttentionWrapperState = tf.nest.map_structure(fitting, self, self._replace(**kwargs))
        return made


class AttentionWrapper(RNNCell):
    """A cell with attention: its inputs have the attention of the step before beside them, its outputs are that of the
    step.

    Args:
        cell: the cell inside.
        attention_mechanism: one, or a list.
        attention_layer_size: the width of the attention, a number, or one for each mechanism; if None, the attention is
            the mean of the memory.
        alignment_history: whether the state holds the alignments of all steps, in a `TensorArray`.
        cell_input_fn: from inputs and attention to what the cell reads; both side by side if None.
        output_attention: whether the attention is the output; if not, that of the cell.
        initial_cell_state: of the cell, for `zero_state`.
        name: the scope.
        attention_layer: layers in place of those of `attention_layer_size`.
        attention_fn: in place of the attention itself: `(mechanism, query, state, layer)` to `(attention, alignments,
            next state)`.
        dtype: of the variables; that of the inputs if None.
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[[Any, Any], Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        cell_of("AttentionWrapper", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._mechanisms = list(attention_mechanism) if self._is_multi else [attention_mechanism]
        for one in self._mechanisms:
            if not isinstance(one, AttentionMechanism):
                raise WrongType(
                    "AttentionWrapper: attention_mechanism must be an AttentionMechanism or list of multiple "
                    f"AttentionMechanism instances, saw type: {type(one).__name__}."
                )
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise WrongType(f"AttentionWrapper: cell_input_fn must be callable, saw type: {type(cell_input_fn)}.")
        self._cell = cell
        self._cell_input_fn = cell_input_fn or (lambda inputs, attention: tf.concat([inputs, attention], -1))
        self._layers = _layers(attention_layer_size, attention_layer, len(self._mechanisms), dtype)
        self._attention_fn = attention_fn or compute_attention
        self._holds_history, self._gives_attention = alignment_history, output_attention
        self._initial_cell_state = initial_cell_state
        self._width = sum(_width(*pair) for pair in zip(self._layers, self._mechanisms, strict=True))

    @property
    def output_size(self) -> Any:
        return self._width if self._gives_attention else self._cell.output_size

    @property
    def state_size(self) -> Any:
        sizes = [one.alignments_size for one in self._mechanisms]
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            attention=self._width,
            time=tf.TensorShape([]),
            alignments=self._one_or_all(sizes),
            alignment_history=self._one_or_all(sizes if self._holds_history else [()] * len(sizes)),
            attention_state=self._one_or_all([one.state_size for one in self._mechanisms]),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state before the first step: that of the cell, and attention to nothing."""
        with _v1.name_scope("AttentionWrapperZeroState"):
            if self._initial_cell_state is not None:
                cell_state = self._initial_cell_state
            else:
                cell_state = self._cell.zero_state(batch_size, dtype)
            error = (
                f"AttentionWrapper.zero_state of {self.name}: Non-matching batch sizes between the memory (encoder "
                "output) and the requested batch size. With a BeamSearchDecoder, tile the encoder's outputs, lengths "
                "and states with tile_batch."
            )
            checks = [_v1.assert_equal(batch_size, one.batch_size, message=error) for one in self._memories()]
            with tf.control_dependencies(checks):
                cell_state = tf.nest.map_structure(tf.identity, cell_state)
            alignments = [one.initial_alignments(batch_size, dtype) for one in self._mechanisms]
            history: list[Any] = [()] * len(alignments)
            if self._holds_history:
                history = [
                    tf.TensorArray(dtype, size=0, dynamic_size=True, element_shape=one.shape) for one in alignments
                ]
            return AttentionWrapperState(
                cell_state=cell_state,
                attention=tf.zeros(tf.stack([batch_size, self._width]), dtype),
                time=tf.zeros([], tf.int32),
                alignments=self._one_or_all(alignments),
                alignment_history=self._one_or_all(history),
                attention_state=self._one_or_all([one.initial_state(batch_size, dtype) for one in self._mechanisms]),
            )

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """One step."""
        if not isinstance(state, AttentionWrapperState):
            raise WrongType(
                "AttentionWrapper: Expected state to be instance of AttentionWrapperState. "
                f"Received type {type(state).__name__} instead. Begin with zero_state."
            )
        output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        with tf.control_dependencies(self._batch_checks(output)):
            output = tf.identity(output, name="checked_cell_output")
        many = self._is_multi
        before = state.attention_state if many else [state.attention_state]
        history = state.alignment_history if many else [state.alignment_history]
        attentions, alignments, states, histories = [], [], [], []
        for place, mechanism in enumerate(self._mechanisms):
            attention, aligned, following = self._attention_fn(mechanism, output, before[place], self._layers[place])
            attentions.append(attention)
            alignments.append(aligned)
            states.append(following)
            histories.append(history[place].write(state.time, aligned) if self._holds_history else ())
        attention = tf.concat(attentions, 1)
        next_state = AttentionWrapperState(
            cell_state=cell_state,
            attention=attention,
            time=state.time + 1,
            alignments=self._one_or_all(alignments),
            alignment_history=self._one_or_all(histories),
            attention_state=self._one_or_all(states),
        )
        return (attention if self._gives_attention else output), next_state

    def _batch_checks(self, output: Any) -> list[Any]:
        size = tf.compat.dimension_value(output.shape[0])
        size = tf.shape(output)[0] if size is None else size
        error = (
            f"AttentionWrapper {self.name}: Non-matching batch sizes between the memory (encoder output) and the query "
            "(decoder output). With a BeamSearchDecoder, tile the memory with tile_batch."
        )
        return [_v1.assert_equal(size, one.batch_size, message=error) for one in self._memories()]

    def _memories(self) -> list[Any]:
        return [one for one in self._mechanisms if hasattr(one, "batch_size")]

    def _one_or_all(self, values: list[Any]) -> Any:
        return tuple(values) if self._is_multi else values[0]


def compute_attention(mechanism: Any, query: Any, state: Any, layer: Any) -> tuple[Any, Any, Any]:
    """The attention of one mechanism, its alignments and its next state."""
    alignments, following = mechanism(query, state)
    seen = tf.squeeze(tf.matmul(tf.expand_dims(alignments, 1), mechanism.values), [1])
    return (seen if layer is None else layer(tf.concat([query, seen], 1))), alignments, following


def _layers(size: Any, layers: Any, count: int, dtype: Any) -> list[Any]:
    if size is not None and layers is not None:
        raise UsageError("AttentionWrapper: Only one of attention_layer_size and attention_layer should be set.")
    given = size if layers is None else layers
    if given is None:
        return [None] * count
    several = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(several) != count:
        raise UsageError(
            "AttentionWrapper: If provided, attention_layer_size and attention_layer must contain exactly one entry "
            f"per attention_mechanism, saw: {len(several)} vs {count}."
        )
    if layers is not None:
        return several
    return [Dense(one, name="attention_layer", use_bias=False, dtype=dtype) for one in several]


def _width(layer: Any, mechanism: Any) -> int:
    """How wide the attention of a mechanism is."""
    depth = mechanism.values.shape[-1]
    if layer is None:
        return int(depth)
    if isinstance(layer, Dense):
        return int(layer.units)
    return int(layer.compute_output_shape([None, depth])[-1])
