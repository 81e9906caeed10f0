"""What a decoder reads next: the truth, or what it said itself."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import tensorflow as tf


class Helper(abc.ABC):
    """Chooses what a decoder says and reads."""

    @property
    @abc.abstractmethod
    def batch_size(self) -> Any:
        """How many rows there are."""

    @property
    def sample_ids_shape(self) -> Any:
        """Shape of a step's sample, without the batch."""
        return tf.TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        """Type of a step's sample."""
        return tf.int32

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """Which rows are done, and the first inputs."""

    @abc.abstractmethod
    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """What is said in a step."""

    @abc.abstractmethod
    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """Which rows are done, the next inputs, the next state."""


class TrainingHelper(Helper):
    """Reads the truth.

    Args:
        inputs: `[batch, time, depth]`, or a structure of such.
        sequence_length: of each row.
        time_major: whether time comes first.
        name: of the operations.
    """

    def __init__(self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None) -> None:
        tensors = tf.nest.map_structure(tf.convert_to_tensor, inputs)
        self._inputs = tensors if time_major else tf.nest.map_structure(_time_first, tensors)
        self._lengths = tf.convert_to_tensor(sequence_length)
        self.inputs, self.sequence_length = tensors, self._lengths

    @property
    def batch_size(self) -> Any:
        return tf.size(self._lengths)

    def initialize(self, name: str | None = None) -> Any:
        return tf.equal(0, self._lengths), tf.nest.map_structure(lambda one: one[0], self._inputs)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        return tf.argmax(outputs, -1, output_type=tf.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        following = time + 1
        done = following >= tf.cast(self._lengths, following.dtype)

        def at(one: Any) -> Any:
            return tf.gather(one, tf.minimum(following, tf.shape(one)[0] - 1))

        return done, tf.nest.map_structure(at, self._inputs), state


class GreedyEmbeddingHelper(Helper):
    """Reads what it said: the likeliest word.

    Args:
        embedding: a table, or a function from words to vectors.
        start_tokens: the first word of each row.
        end_token: the word that ends a row.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embed: Callable[[Any], Any] = (
            embedding if callable(embedding) else lambda words: tf.nn.embedding_lookup(embedding, words)
        )
        self._start = tf.cast(tf.convert_to_tensor(start_tokens), tf.int32)
        self._end = tf.cast(tf.convert_to_tensor(end_token), tf.int32)

    @property
    def batch_size(self) -> Any:
        return tf.size(self._start)

    def initialize(self, name: str | None = None) -> Any:
        return tf.fill(tf.shape(self._start), False), self._embed(self._start)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        return tf.argmax(outputs, -1, output_type=tf.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        return tf.equal(sample_ids, self._end), self._embed(sample_ids), state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Reads what it said: a word drawn by its probability.

    Args:
        embedding: a table, or a function from words to vectors.
        start_tokens: the first word of each row.
        end_token: the word that ends a row.
        softmax_temperature: less than 1 for likelier words, more for rarer ones.
        seed: of the draw.
    """

    def __init__(
        self, embedding: Any, start_tokens: Any, end_token: Any, softmax_temperature: Any = None, seed: Any = None
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        logits = outputs if self._temperature is None else outputs / self._temperature
        return tf.random.categorical(logits, 1, dtype=tf.int32, seed=self._seed)[:, 0]


class CustomHelper(Helper):
    """Three functions of your own: `initialize_fn()`, `sample_fn(time, outputs, state)`, `next_inputs_fn(...)`."""

    def __init__(
        self,
        initialize_fn: Callable[..., Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._functions = initialize_fn, sample_fn, next_inputs_fn
        self._shape = tf.TensorShape(sample_ids_shape or [])
        self._dtype = sample_ids_dtype or tf.int32
        self._batch_size: Any = None

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return self._shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._dtype

    def initialize(self, name: str | None = None) -> Any:
        done, inputs = self._functions[0]()
        self._batch_size = tf.size(done)
        return done, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        return self._functions[1](time=time, outputs=outputs, state=state)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        return self._functions[2](time=time, outputs=outputs, state=state, sample_ids=sample_ids)


def _time_first(values: Any) -> Any:
    return tf.transpose(values, [1, 0, *range(2, values.shape.rank)])
