"""Attention mechanisms: how well each place of a memory answers a query.

`BahdanauAttention` compares by a small net (Bahdanau et al., 2015), `LuongAttention` by a product (Luong et al., 2015);
the monotonic ones never look back (Raffel et al., 2017). Variables have the names of TensorFlow 1.15.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.seq2seq.monotonic import monotonic_attention
from lightwell.errors import UsageError
from lightwell.model.layers.dense import Dense

_v1 = tf.compat.v1


class AttentionMechanism:
    """What `AttentionWrapper` asks: derive from it and define `__call__(query, state)`, which gives
    `(alignments, next state)`, and the members below."""

    @property
    def alignments_size(self) -> Any:
        """How many places the memory has."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """Size of its state."""
        raise NotImplementedError

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """The alignments before the first step."""
        raise NotImplementedError

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state before the first step."""
        raise NotImplementedError


class MemoryAttention(AttentionMechanism):
    """Attention over a memory, masked behind the end of each row. A subclass defines `_score(query)`.

    Args:
        memory: `[batch, places, depth]`.
        memory_sequence_length: of each row; all places count if None.
        probability_fn: from scores, and the state before, to alignments.
        score_mask_value: the score of places behind the end.
        query_layer: applied to queries.
        memory_layer: makes keys of the memory; the memory itself if None.
        custom_key_value_fn: from keys and values to those that are used.
    """

    def __init__(
        self,
        memory: Any,
        memory_sequence_length: Any,
        probability_fn: Callable[[Any, Any], Any],
        score_mask_value: Any,
        query_layer: Any,
        memory_layer: Any,
        custom_key_value_fn: Callable[..., Any] | None,
    ) -> None:
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self._probability_fn = probability_fn
        with _v1.name_scope(None, "BaseAttentionMechanismInit", tf.nest.flatten(memory)):
            values = tf.convert_to_tensor(memory, name="memory")
            self._lengths = None
            if memory_sequence_length is not None:
                self._lengths = tf.convert_to_tensor(memory_sequence_length, name="memory_sequence_length")
                mask = tf.sequence_mask(self._lengths, tf.shape(values)[1], values.dtype)
                values = values * tf.reshape(mask, [*[-1, tf.shape(values)[1]], *[1] * (values.shape.rank - 2)])
            self._values = values
            self._mask_value = values.dtype.as_numpy_dtype(-math.inf) if score_mask_value is None else score_mask_value
            self._keys = memory_layer(values) if memory_layer is not None else values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = tf.compat.dimension_value(self._keys.shape[0])
            if self._batch_size is None:
                self._batch_size = tf.shape(self._keys)[0]
            self._places = tf.compat.dimension_value(self._keys.shape[1])
            if self._places is None:
                self._places = tf.shape(self._keys)[1]

    @property
    def memory_layer(self) -> Any:
        """Makes keys of the memory."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """Applied to queries."""
        return self._query_layer

    @property
    def keys(self) -> Any:
        """What queries are compared with."""
        return self._keys

    @property
    def values(self) -> Any:
        """The memory, zero behind the end of each row."""
        return self._values

    @property
    def batch_size(self) -> Any:
        """How many rows the memory has."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        return self._places

    @property
    def state_size(self) -> Any:
        return self._places

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """The alignments before the first step: zeros."""
        return tf.zeros(tf.stack([batch_size, self._places]), dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state before the first step: the alignments."""
        return self.initial_alignments(batch_size, dtype)

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Alignments of a query with each place, and the next state."""
        with _v1.variable_scope(None, self._scope_name, [query]):
            score = self._score(self._query_layer(query) if self._query_layer else query)
        alignments = self._probability_fn(self._masked(score), state)
        return alignments, alignments

    _scope_name = "attention"

    def _score(self, query: Any) -> Any:
        raise NotImplementedError

    def _masked(self, score: Any) -> Any:
        if self._lengths is None:
            return score
        mask = tf.sequence_mask(self._lengths, tf.shape(score)[1])
        return tf.where(mask, score, tf.cast(self._mask_value, score.dtype) * tf.ones_like(score))


class BahdanauAttention(MemoryAttention):
    """Compares keys and query by the sum of `attention_v * tanh(key + query)`.

    Args:
        num_units: the width in which they are compared.
        memory: `[batch, places, depth]`.
        memory_sequence_length: of each row; all places count if None.
        normalize: whether `attention_v` has a length of its own (Salimans and Kingma, 2016).
        probability_fn: from scores to alignments; softmax if None.
        score_mask_value: the score of places behind the end; minus infinity if None.
        dtype: of the layers; float32 if None.
        custom_key_value_fn: from keys and values to those that are used.
        name: of the operations.
    """

    _scope_name = "bahdanau_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str = "BahdanauAttention",
    ) -> None:
        self._normalize, self._units, self._name = normalize, num_units, name
        kind = dtype or tf.float32
        super().__init__(
            memory,
            memory_sequence_length,
            _stateless(probability_fn),
            score_mask_value,
            Dense(num_units, name="query_layer", use_bias=False, dtype=kind),
            Dense(num_units, name="memory_layer", use_bias=False, dtype=kind),
            custom_key_value_fn,
        )

    def _score(self, query: Any) -> Any:
        return bahdanau_score(query, self.keys, self._units, normalize=self._normalize)


class LuongAttention(MemoryAttention):
    """Compares keys and query by their product.

    Args:
        num_units: the width of queries.
        memory: `[batch, places, depth]`.
        memory_sequence_length: of each row; all places count if None.
        scale: whether scores are multiplied by the variable `attention_g`.
        probability_fn: from scores to alignments; softmax if None.
        score_mask_value: the score of places behind the end; minus infinity if None.
        dtype: of the layers; float32 if None.
        custom_key_value_fn: from keys and values to those that are used.
        name: of the operations.
    """

    _scope_name = "luong_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str = "LuongAttention",
    ) -> None:
        self._scale, self._name = scale, name
        super().__init__(
            memory,
            memory_sequence_length,
            _stateless(probability_fn),
            score_mask_value,
            None,
            Dense(num_units, name="memory_layer", use_bias=False, dtype=dtype or tf.float32),
            custom_key_value_fn,
        )

    def _score(self, query: Any) -> Any:
        return luong_score(query, self.keys, scale=self._scale)


class _Monotonic(MemoryAttention):
    """Attention that begins at the first place and never looks back."""

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        return tf.one_hot(tf.zeros(tf.stack([batch_size]), tf.int32), self._places, dtype=dtype)


class BahdanauMonotonicAttention(_Monotonic):
    """`BahdanauAttention` that never looks back.

    Args:
        num_units: the width in which keys and query are compared.
        memory: `[batch, places, depth]`.
        memory_sequence_length: of each row; all places count if None.
        normalize: whether `attention_v` has a length of its own.
        score_mask_value: the score of places behind the end; minus infinity if None.
        sigmoid_noise: the deviation of noise on scores, so that they learn to be decided.
        sigmoid_noise_seed: of the noise.
        score_bias_init: the first value of the bias of scores.
        mode: `recursive`, `parallel` or `hard`; see `monotonic_attention`.
        dtype: of the layers; float32 if None.
        name: of the operations.
    """

    _scope_name = "bahdanau_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        self._normalize, self._units, self._bias, self._name = normalize, num_units, score_bias_init, name
        kind = dtype or tf.float32
        super().__init__(
            memory,
            memory_sequence_length,
            _monotonic(sigmoid_noise, mode, sigmoid_noise_seed),
            score_mask_value,
            Dense(num_units, name="query_layer", use_bias=False, dtype=kind),
            Dense(num_units, name="memory_layer", use_bias=False, dtype=kind),
            None,
        )

    def _score(self, query: Any) -> Any:
        score = bahdanau_score(query, self.keys, self._units, normalize=self._normalize)
        return score + _score_bias(score.dtype, self._bias)


class LuongMonotonicAttention(_Monotonic):
    """`LuongAttention` that never looks back; see `BahdanauMonotonicAttention` for the arguments."""

    _scope_name = "luong_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        self._scale, self._bias, self._name = scale, score_bias_init, name
        super().__init__(
            memory,
            memory_sequence_length,
            _monotonic(sigmoid_noise, mode, sigmoid_noise_seed),
            score_mask_value,
            None,
            Dense(num_units, name="memory_layer", use_bias=False, dtype=dtype or tf.float32),
            None,
        )

    def _score(self, query: Any) -> Any:
        score = luong_score(query, self.keys, scale=self._scale)
        return score + _score_bias(score.dtype, self._bias)


def bahdanau_score(query: Any, keys: Any, units: int, *, normalize: bool) -> Any:
    """How well keys answer a query, by a small net; its variables are in the open scope."""
    direction = _v1.get_variable("attention_v", [units], query.dtype)
    together = keys + query[:, None]
    if normalize:
        start = _v1.constant_initializer(math.sqrt(1.0 / units))
        length = _v1.get_variable("attention_g", shape=(), dtype=query.dtype, initializer=start)
        shift = _v1.get_variable("attention_b", [units], query.dtype, _v1.zeros_initializer())
        direction = length * direction * tf.math.rsqrt(tf.reduce_sum(tf.square(direction)))
        together = together + shift
    return tf.reduce_sum(direction * tf.tanh(together), 2)


def luong_score(query: Any, keys: Any, *, scale: bool) -> Any:
    """How well keys answer a query, by their product.

    Raises:
        UsageError: their widths differ.
    """
    if query.shape[-1] != keys.shape[-1]:
        raise UsageError(
            "LuongAttention: Incompatible or unknown inner dimensions between query and keys: the query has "
            f"{query.shape[-1]} units, keys have {keys.shape[-1]}. Set num_units to the size of the cell."
        )
    score = tf.squeeze(tf.matmul(query[:, None], keys, transpose_b=True), [1])
    if scale:
        one = _v1.ones_initializer()
        score = score * _v1.get_variable("attention_g", shape=(), dtype=query.dtype, initializer=one)
    return score


def _score_bias(dtype: Any, first: float) -> Any:
    start = _v1.constant_initializer(first)
    return _v1.get_variable("attention_score_bias", shape=(), dtype=dtype, initializer=start)


def _stateless(probability_fn: Callable[[Any], Any] | None) -> Callable[[Any, Any], Any]:
    chosen = probability_fn or tf.nn.softmax
    return lambda score, state: chosen(score)


def _monotonic(noise: float, mode: str, seed: int | None) -> Callable[[Any, Any], Any]:
    return functools.partial(_monotonic_probabilities, noise=noise, mode=mode, seed=seed)


def _monotonic_probabilities(score: Any, before: Any, *, noise: float, mode: str, seed: int | None) -> Any:
    if noise > 0:
        score = score + noise * tf.random.normal(tf.shape(score), dtype=score.dtype, seed=seed)
    chances = tf.cast(score > 0, score.dtype) if mode == "hard" else tf.sigmoid(score)
    return monotonic_attention(chances, before, mode)
