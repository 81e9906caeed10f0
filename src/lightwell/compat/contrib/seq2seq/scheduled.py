"""Helpers that mix the truth with what the decoder said (Bengio et al., 2015), and one of functions for inference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.seq2seq.helpers import Helper, TrainingHelper


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Reads the truth, or, by chance, the word that it drew itself.

    Args:
        inputs: `[batch, time, depth]`.
        sequence_length: of each row.
        embedding: a table, or a function from words to vectors.
        sampling_probability: the chance to read what it drew.
        time_major: whether time comes first.
        seed: of the words.
        scheduling_seed: of the choice between truth and word.
        name: of the operations.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(inputs, sequence_length, time_major, name)
        self._embed: Callable[[Any], Any] = (
            embedding if callable(embedding) else lambda words: tf.nn.embedding_lookup(embedding, words)
        )
        self._share = tf.convert_to_tensor(sampling_probability, tf.float32)
        self._seed, self._choice_seed = seed, scheduling_seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        draws = tf.random.uniform([self.batch_size], seed=self._choice_seed)
        words = tf.random.categorical(outputs, 1, dtype=tf.int32, seed=self._seed)[:, 0]
        return tf.where(draws < self._share, words, tf.fill([self.batch_size], -1))

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        done, truth, state = super().next_inputs(time, outputs, state, sample_ids)
        said = self._embed(tf.maximum(sample_ids, 0))
        return done, tf.where((sample_ids > -1)[:, None], tf.cast(said, truth.dtype), truth), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Reads the truth, or, by chance, its own output.

    Args:
        inputs: `[batch, time, depth]`.
        sequence_length: of each row.
        sampling_probability: the chance to read its output.
        time_major: whether time comes first.
        seed: of the choice.
        next_inputs_fn: from outputs to inputs; the outputs themselves if None.
        auxiliary_inputs: `[batch, time, ...]`, read beside the inputs.
        name: of the operations.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None,
        auxiliary_inputs: Any = None,
        name: str | None = None,
    ) -> None:
        joined = inputs if auxiliary_inputs is None else tf.concat([inputs, auxiliary_inputs], -1)
        super().__init__(joined, sequence_length, time_major, name)
        self._beside = None
        if auxiliary_inputs is not None:
            beside = tf.convert_to_tensor(auxiliary_inputs)
            self._beside = beside if time_major else tf.transpose(beside, [1, 0, *range(2, beside.shape.rank)])
        self._share, self._seed = tf.convert_to_tensor(sampling_probability, tf.float32), seed
        self._next_inputs_fn = next_inputs_fn or tf.identity

    @property
    def sample_ids_dtype(self) -> Any:
        return tf.bool

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        return tf.random.uniform([self.batch_size], seed=self._seed) < self._share

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        done, truth, state = super().next_inputs(time, outputs, state, sample_ids)
        said = self._next_inputs_fn(outputs)
        if self._beside is not None:
            following = tf.minimum(time + 1, tf.shape(self._beside)[0] - 1)
            said = tf.concat([said, tf.gather(self._beside, following)], -1)
        return done, tf.where(sample_ids[:, None], said, truth), state


class InferenceHelper(Helper):
    """Reads what functions make of the outputs.

    Args:
        sample_fn: from outputs to a sample.
        sample_shape: of a sample, without the batch.
        sample_dtype: of a sample.
        start_inputs: the first inputs, `[batch, ...]`.
        end_fn: from a sample to whether each row is done.
        next_inputs_fn: from a sample to the next inputs; the sample itself if None.
    """

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        self._sample_fn, self._end_fn, self._next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self._shape, self._dtype = tf.TensorShape(sample_shape), sample_dtype
        self._start = tf.convert_to_tensor(start_inputs)

    @property
    def batch_size(self) -> Any:
        return tf.shape(self._start)[0]

    @property
    def sample_ids_shape(self) -> Any:
        return self._shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._dtype

    def initialize(self, name: str | None = None) -> Any:
        return tf.fill([self.batch_size], False), self._start

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        return self._sample_fn(outputs)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        following = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), following, state
