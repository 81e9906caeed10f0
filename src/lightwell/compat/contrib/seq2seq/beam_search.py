"""`BeamSearchDecoder`: decodes the likeliest sentences, several for each row."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from lightwell.compat.contrib.seq2seq.attention_wrapper import AttentionWrapperState
from lightwell.compat.contrib.seq2seq.decoder import Decoder
from lightwell.compat.contrib.seq2seq.gather_tree import gather_tree, gather_tree_from_array
from lightwell.errors import UsageError
from lightwell.model.rnn_cell.options import cell_of

BeamSearchDecoderState = namedtuple(
    "BeamSearchDecoderState", ("cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs")
)
BeamSearchDecoderOutput = namedtuple("BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids"))
FinalBeamSearchDecoderOutput = namedtuple(
    "FinalBeamSearchDecoderOutput", ("predicted_ids", "beam_search_decoder_output")
)


class BeamSearchDecoder(Decoder):
    """Beam search over a cell.

        tiled = tf.contrib.seq2seq.tile_batch(encoder_state, multiplier=beam_width)

    Args:
        cell: an RNN cell.
        embedding: a table, or a function from words to vectors.
        start_tokens: the first word of each row.
        end_token: the word that ends a sentence.
        initial_state: the first state of the cell, with `beam_width` rows for each row of the batch (`tile_batch`).
        beam_width: how many sentences a row has.
        output_layer: applied to the output of the cell; none if None.
        length_penalty_weight: how much longer sentences are preferred; not if 0.
        coverage_penalty_weight: how much sentences are preferred whose attention covers the memory; not if 0.
        reorder_tensor_arrays: whether a history of alignments is sorted into whole sentences.
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        cell_of("BeamSearchDecoder", cell)
        self._cell, self._output_layer = cell, output_layer
        self._embed: Callable[[Any], Any] = (
            embedding if callable(embedding) else lambda words: tf.nn.embedding_lookup(embedding, words)
        )
        starts = tf.cast(tf.convert_to_tensor(start_tokens, name="start_tokens"), tf.int32)
        if starts.shape.rank != 1:
            raise UsageError(f"BeamSearchDecoder: start_tokens must be a vector, got shape {starts.shape}.")
        self._end = tf.cast(tf.convert_to_tensor(end_token, name="end_token"), tf.int32)
        if self._end.shape.rank != 0:
            raise UsageError(f"BeamSearchDecoder: end_token must be a scalar, got shape {self._end.shape}.")
        self._rows = tf.compat.dimension_value(starts.shape[0])  # None where it is known at run time only
        self._batch = tf.size(starts) if self._rows is None else self._rows
        self._beams = int(beam_width)
        self._starts = tf.tile(starts[:, None], [1, self._beams])
        self._penalties = _Penalties(length_penalty_weight, coverage_penalty_weight)
        self._reorders = reorder_tensor_arrays
        self._initial_cell_state = tf.nest.map_structure(self._split, initial_state)

    @property
    def batch_size(self) -> Any:
        """How many rows there are."""
        return self._batch

    @property
    def tracks_own_finished(self) -> bool:
        return True

    @property
    def output_dtype(self) -> Any:
        return BeamSearchDecoderOutput(tf.nest.flatten(self._initial_cell_state)[0].dtype, tf.int32, tf.int32)

    def initialize(self, name: str | None = None) -> Any:
        nobody = tf.zeros([self._batch], tf.int32)
        finished = tf.one_hot(nobody, self._beams, on_value=False, off_value=True, dtype=tf.bool)
        dtype = tf.nest.flatten(self._initial_cell_state)[0].dtype
        # The beams of a row are equal at first: only one may grow.
        log_probs = tf.one_hot(nobody, self._beams, tf.cast(0.0, dtype), tf.cast(-np.inf, dtype), dtype=dtype)
        seen = _alignments(self._initial_cell_state, self._penalties.coverage)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=finished,
            lengths=tf.zeros([self._batch, self._beams], tf.int64),
            accumulated_attention_probs=() if seen is None else tf.zeros_like(seen),
        )
        return finished, self._embed(self._starts), state

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        merged = tf.nest.map_structure(lambda one: self._merge(one, 2), inputs)
        outputs, cell_state = self._cell(merged, tf.nest.map_structure(self._merge, state.cell_state))
        outputs = tf.nest.map_structure(self._split, outputs)
        if self._output_layer is not None:
            outputs = self._output_layer(outputs)
        cell_state = tf.nest.map_structure(self._split, cell_state)
        said, state = self._grow(outputs, cell_state, state)
        words = said.predicted_ids
        following = tf.cond(
            tf.reduce_all(state.finished), lambda: self._embed(self._starts), lambda: self._embed(words)
        )
        return said, state, following, state.finished

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        longest = tf.cast(tf.reduce_max(final_state.lengths, 1), tf.int32)
        words = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end)
        if self._reorders:
            cell_state = tf.nest.map_structure(
                lambda one: self._whole(one, outputs, final_state.lengths), final_state.cell_state
            )
            final_state = final_state._replace(cell_state=cell_state)
        return FinalBeamSearchDecoderOutput(words, outputs), final_state

    def _whole(self, values: Any, outputs: Any, lengths: Any) -> Any:
        """A history in the order of whole sentences; what is none, as it is."""
        if not isinstance(values, tf.TensorArray):
            return values
        stacked = values.stack()
        shape = tf.shape(stacked)
        split = tf.concat([tf.shape(outputs.parent_ids), shape[2:]], 0)
        in_order = gather_tree_from_array(tf.reshape(stacked, split), outputs.parent_ids, lengths)
        ordered = tf.TensorArray(values.dtype, size=shape[0], element_shape=values.element_shape)
        return ordered.unstack(tf.reshape(in_order, shape))

    def _grow(self, logits: Any, cell_state: Any, state: Any) -> Any:
        """The likeliest sentences one word longer."""
        words = tf.compat.dimension_value(logits.shape[-1]) or tf.shape(logits)[-1]
        steps = _with_finished_held(tf.nn.log_softmax(logits), self._end, state.finished, words)
        totals = state.log_probs[:, :, None] + steps
        growing = tf.cast(tf.logical_not(state.finished), tf.int64)
        longer = tf.one_hot(self._end, words, tf.constant(0, tf.int64), tf.constant(1, tf.int64), dtype=tf.int64)
        lengths = longer * growing[:, :, None] + state.lengths[:, :, None]
        seen = _alignments(cell_state, self._penalties.coverage)
        covered = state.accumulated_attention_probs
        if seen is not None:
            covered = covered + seen * tf.cast(growing, seen.dtype)[:, :, None]
        scores = self._penalties.scores(totals, lengths, None if seen is None else covered, state.finished)
        best, places = tf.math.top_k(tf.reshape(scores, [self._batch, self._beams * words]), self._beams)
        chosen, origins = places % words, places // words
        best = tf.ensure_shape(best, [self._rows, self._beams])

        def of_origin(values: Any) -> Any:
            return tf.gather(values, origins, batch_dims=1)

        was_finished = of_origin(state.finished)
        following = BeamSearchDecoderState(
            cell_state=tf.nest.map_structure(
                lambda one: one if _stays(one) else of_origin(one),
                cell_state,
            ),
            log_probs=tf.gather(tf.reshape(totals, [self._batch, -1]), places, batch_dims=1),
            finished=tf.logical_or(was_finished, tf.equal(chosen, self._end)),
            lengths=of_origin(state.lengths) + tf.cast(tf.logical_not(was_finished), tf.int64),
            accumulated_attention_probs=() if seen is None else of_origin(covered),
        )
        return BeamSearchDecoderOutput(best, chosen, origins), following

    def _split(self, values: Any) -> Any:
        """`[batch * beams, ...]` as `[batch, beams, ...]`."""
        if _stays(values):
            return values
        split = tf.reshape(values, tf.concat([[self._batch, self._beams], tf.shape(values)[1:]], 0))
        return tf.ensure_shape(split, [self._rows, self._beams, *values.shape[1:]])

    def _merge(self, values: Any, least_rank: int = 1) -> Any:
        """`[batch, beams, ...]` as `[batch * beams, ...]`."""
        if _stays(values) or values.shape.rank < least_rank:
            return values
        merged = tf.reshape(values, tf.concat([[self._batch * self._beams], tf.shape(values)[2:]], 0))
        rows = None if self._rows is None else self._rows * self._beams
        return tf.ensure_shape(merged, [rows, *values.shape[2:]])


class _Penalties(NamedTuple):
    """What scores prefer beside likely sentences."""

    length: Any
    coverage: Any

    def scores(self, log_probs: Any, lengths: Any, covered: Any, finished: Any) -> Any:
        """Scores of sentences `[batch, beams, words]`, by which they are compared."""
        weight = tf.get_static_value(tf.convert_to_tensor(self.length))
        if weight is None or weight != 0:
            grown = (5.0 + tf.cast(lengths, log_probs.dtype)) / 6.0
            log_probs = log_probs / tf.pow(grown, tf.cast(self.length, log_probs.dtype))
        if covered is None:
            return log_probs
        # Only finished sentences pay, and padding of the memory, which is never seen, does not count.
        shares = tf.where(covered > 0, tf.minimum(covered, 1.0), tf.ones_like(covered))
        penalty = tf.reduce_sum(tf.math.log(shares), 2) * tf.cast(finished, covered.dtype)
        return log_probs + (penalty * tf.cast(self.coverage, penalty.dtype))[:, :, None]


def _stays(values: Any) -> bool:
    """Whether a part of a state has no beams: histories, counters."""
    return isinstance(values, tf.TensorArray) or values.shape.rank == 0


def _with_finished_held(steps: Any, end: Any, finished: Any, words: Any) -> Any:
    """Log probabilities of words, where a finished sentence can only end again."""
    held = tf.one_hot(end, words, tf.cast(0.0, steps.dtype), steps.dtype.min, dtype=steps.dtype)
    return tf.where(finished[:, :, None], tf.broadcast_to(held, tf.shape(steps)), steps)


def _alignments(cell_state: Any, weight: Any) -> Any:
    """The alignments in a state, summed over mechanisms; None if coverage does not count."""
    if tf.get_static_value(tf.convert_to_tensor(weight)) == 0.0:
        return None
    found = [cell_state] if isinstance(cell_state, AttentionWrapperState) else cell_state
    alignments = [one.alignments for one in found if isinstance(one, AttentionWrapperState)]
    if not alignments:
        raise UsageError("BeamSearchDecoder: coverage_penalty_weight needs a cell_state with AttentionWrapperState.")
    return tf.add_n(tf.nest.flatten(alignments))
