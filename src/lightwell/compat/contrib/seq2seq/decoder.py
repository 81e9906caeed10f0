"""Decoding step by step: `BasicDecoder`, a cell with a helper, and `dynamic_decode`, the loop."""

from __future__ import annotations

import abc
from collections import namedtuple
from typing import Any

import tensorflow as tf

from lightwell.errors import WrongType

_v1 = tf.compat.v1
BasicDecoderOutput = namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))


class Decoder(abc.ABC):
    """One step of decoding. A subclass defines `output_dtype`, `initialize` and `step`."""

    @property
    @abc.abstractmethod
    def output_dtype(self) -> Any:
        """Types of the outputs of a step."""

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """Which rows are done, the first inputs, the first state."""

    @abc.abstractmethod
    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Outputs, the next state, the next inputs, which rows are done."""

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """The final outputs."""
        return outputs, final_state

    @property
    def tracks_own_finished(self) -> bool:
        """Whether a row that was done may go on."""
        return False


class BasicDecoder(Decoder):
    """A cell, a helper that says what it reads, and a layer behind it.

    Args:
        cell: an RNN cell.
        helper: a `Helper`.
        initial_state: the first state of the cell.
        output_layer: applied to the output of the cell; none if None.
    """

    def __init__(self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None) -> None:
        self._cell, self._helper = cell, helper
        self._initial_state, self._output_layer = initial_state, output_layer

    @property
    def batch_size(self) -> Any:
        """How many rows there are."""
        return self._helper.batch_size

    @property
    def output_dtype(self) -> Any:
        dtype = tf.nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(dtype, self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> Any:
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        outputs, state = self._cell(inputs, state)
        if self._output_layer is not None:
            outputs = self._output_layer(outputs)
        said = self._helper.sample(time=time, outputs=outputs, state=state)
        done, inputs, state = self._helper.next_inputs(time=time, outputs=outputs, state=state, sample_ids=said)
        return BasicDecoderOutput(outputs, said), state, inputs, done


def dynamic_decode(
    decoder: Any,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
    **kwargs: Any,
) -> tuple[Any, Any, Any]:
    """Decodes until every row is done.

    Args:
        decoder: a `Decoder`.
        output_time_major: whether outputs have time first.
        impute_finished: whether rows that are done give zeros and keep their state.
        maximum_iterations: how many steps at most.
        parallel_iterations: as `tf.while_loop` takes it.
        swap_memory: as `tf.while_loop` takes it.
        scope: `decoder` if None.
        **kwargs: for `decoder.initialize`.

    Returns:
        The outputs of all steps, the last state, the length of each row.
    """
    if not isinstance(decoder, Decoder):
        raise WrongType(f"dynamic_decode: Expected decoder to be type Decoder, but saw: {type(decoder)}.")
    with _v1.variable_scope(scope, "decoder"):
        done, inputs, state = decoder.initialize(**kwargs)
        if maximum_iterations is not None:
            done = tf.logical_or(done, maximum_iterations <= 0)
        arrays = tf.nest.map_structure(
            lambda dtype: tf.TensorArray(dtype, size=0, dynamic_size=True), decoder.output_dtype
        )

        def body(time: Any, arrays: Any, state: Any, inputs: Any, done: Any, lengths: Any) -> Any:
            outputs, new_state, new_inputs, now_done = decoder.step(time, inputs, state)
            following = now_done if decoder.tracks_own_finished else tf.logical_or(now_done, done)
            if maximum_iterations is not None:
                following = tf.logical_or(following, time + 1 >= maximum_iterations)
            if impute_finished:
                outputs = tf.nest.map_structure(lambda one: _chosen(done, tf.zeros_like(one), one), outputs)
                new_state = tf.nest.map_structure(lambda old, new: _chosen(done, old, new), state, new_state)
            arrays = tf.nest.map_structure(lambda array, one: array.write(time, one), arrays, outputs)
            lengths = tf.where(done, lengths, tf.fill(tf.shape(lengths), time + 1))
            return time + 1, arrays, new_state, new_inputs, following, lengths

        _, arrays, state, _, _, lengths = tf.compat.v1.while_loop(
            lambda time, arrays, state, inputs, done, lengths: tf.logical_not(tf.reduce_all(done)),
            body,
            (tf.constant(0), arrays, state, inputs, done, tf.zeros_like(done, tf.int32)),
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
        )
        outputs, state = decoder.finalize(tf.nest.map_structure(lambda one: one.stack(), arrays), state, lengths)
        if not output_time_major:
            outputs = tf.nest.map_structure(_batch_first, outputs)
        return outputs, state, lengths


def _chosen(done: Any, old: Any, new: Any) -> Any:
    if isinstance(new, tf.TensorArray) or new.shape.rank in (None, 0):
        return new
    return tf.where(tf.reshape(done, [-1] + [1] * (new.shape.rank - 1)), old, new)


def _batch_first(values: Any) -> Any:
    return tf.transpose(values, [1, 0, *range(2, values.shape.rank)])
