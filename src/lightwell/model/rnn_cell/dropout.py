"""Dropout on a cell's inputs, outputs and state."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType
from lightwell.model.rnn_cell.options import keep_prob_of
from lightwell.model.rnn_cell.state import LSTMStateTuple, noise_shape
from lightwell.model.rnn_cell.wrapper import CellWrapper


class DropoutWrapper(CellWrapper):
    """Drops values on their way into, out of, and along a cell.

    Args:
        cell: the cell to wrap.
        input_keep_prob: share of the inputs to keep: a float, or a scalar tensor.
        output_keep_prob: share of the outputs to keep.
        state_keep_prob: share of the new state to keep. The memory `c` of an `LSTMStateTuple` is never dropped unless
            `dropout_state_filter_visitor` says so.
        variational_recurrent: whether one mask serves every step of a sequence and every example of the batch
            (Gal and Ghahramani, 2015, arXiv 1512.05287). Needs `dtype`, and `input_size` when inputs are dropped.
        input_size: width of the inputs, or a structure of widths; for `variational_recurrent` alone.
        dtype: type of inputs, outputs and state; for `variational_recurrent` alone.
        seed: makes the masks repeat from run to run.
        dropout_state_filter_visitor: says which parts of the state to drop. It is asked about the state from the
            outside in: False spares all below, True asks on, down to the tensors; a structure answers part by part.
    """

    def __init__(
        self,
        cell: Any,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        visitor = dropout_state_filter_visitor
        if visitor is not None and not callable(visitor):
            raise WrongType(
                f"DropoutWrapper: dropout_state_filter_visitor must be callable, got {visitor!r}. "
                f"Pass a function from a part of the state to True or False."
            )
        self._input_keep_prob = keep_prob_of("DropoutWrapper", "input_keep_prob", input_keep_prob)
        self._output_keep_prob = keep_prob_of("DropoutWrapper", "output_keep_prob", output_keep_prob)
        self._state_keep_prob = keep_prob_of("DropoutWrapper", "state_keep_prob", state_keep_prob)
        self._variational_recurrent = variational_recurrent
        self._seed = seed
        self._state_filter = visitor or _all_but_memory
        self._noise: dict[str, list[Any]] = {}
        if variational_recurrent:
            self._draw_noise(input_size, dtype)

    def _draw_noise(self, input_size: Any, dtype: Any) -> None:
        """Draws the masks that a variational wrapper keeps for the whole sequence."""
        if dtype is None:
            raise UsageError(
                "DropoutWrapper: when variational_recurrent=True, dtype must be provided, got None. "
                "Pass dtype=tf.float32."
            )
        sizes = {"state": self.cell.state_size, "output": self.cell.output_size}
        if _drops(self._input_keep_prob):
            if input_size is None:
                raise UsageError(
                    "DropoutWrapper: when variational_recurrent=True and input_keep_prob < 1.0 or is unknown, "
                    "input_size must be provided, got None. Pass the width of the inputs."
                )
            sizes = {"input": input_size, **sizes}
        for place, size in sizes.items():
            self._noise[place] = [
                tf.random.uniform(noise_shape(one), dtype=tf.as_dtype(dtype), seed=self._seed_of(place, index))
                for index, one in enumerate(tf.nest.flatten(size))
            ]

    def _seed_of(self, place: str, index: int) -> int | None:
        """A seed per place, so that masks differ; derived as TensorFlow did, so that they are the masks of old runs."""
        if self._seed is None:
            return None
        digest = hashlib.md5(f"{self._seed}{place}_{index}".encode(), usedforsecurity=False).hexdigest()
        return int(digest[:8], 16) & 0x7FFFFFFF

    def _wrapped_step(self, inputs: Any, state: Any, scope: Any) -> tuple[Any, Any]:
        inputs = self._dropped("input", inputs, self._input_keep_prob)
        outputs, new_state = super()._wrapped_step(inputs, state, scope)
        if _drops(self._state_keep_prob):
            chosen = _chosen(self._state_filter, new_state)
            new_state = self._dropped("state", new_state, self._state_keep_prob, chosen)
        return self._dropped("output", outputs, self._output_keep_prob), new_state

    def _dropped(self, place: str, values: Any, keep_prob: Any, chosen: list[bool] | None = None) -> Any:
        """The structure `values` with its chosen parts thinned out."""
        if not _drops(keep_prob):
            return values
        parts = tf.nest.flatten(values)
        thinned = [
            self._thin(place, index, part, keep_prob) if chosen is None or chosen[index] else part
            for index, part in enumerate(parts)
        ]
        return tf.nest.pack_sequence_as(values, thinned)

    def _thin(self, place: str, index: int, value: Any, keep_prob: Any) -> Any:
        if not self._variational_recurrent:
            return tf.nn.dropout(value, rate=1.0 - keep_prob, seed=self._seed_of(place, index))
        keep_prob = tf.cast(keep_prob, value.dtype)
        # Uniform noise plus the share to keep is 1 or more exactly where a value stays.
        mask = tf.floor(keep_prob + self._noise[place][index])
        thinned = value / keep_prob * mask
        thinned.set_shape(value.shape)
        return thinned


def _drops(keep_prob: Any) -> bool:
    """Whether dropout can happen: a tensor's value is not known yet."""
    return bool(tf.is_tensor(keep_prob)) or keep_prob < 1.0


def _all_but_memory(part: Any) -> Any:
    if isinstance(part, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(part, tf.TensorArray)


def _chosen(visitor: Callable[[Any], Any], state: Any) -> list[bool]:
    """One flag for every tensor of the state, in flattening order: dropped where every answer on the way was True."""
    answer = visitor(state)
    if answer is False:
        return [False] * len(tf.nest.flatten(state))
    parts = _parts(state)
    if answer is True:
        return [flag for part in parts for flag in _chosen(visitor, part)] if parts is not None else [True]
    flags = _parts(answer)
    if parts is None or flags is None or len(flags) != len(parts) or not all(isinstance(flag, bool) for flag in flags):
        raise WrongType(
            "DropoutWrapper: expected dropout_state_filter_visitor to return True, False or one of them for each part "
            f"of the state, got {answer!r} for {state!r}. Return True to drop that part of the state."
        )
    nested = [
        _chosen(visitor, part) if flag else _chosen(_never, part) for part, flag in zip(parts, flags, strict=True)
    ]
    return [flag for part_flags in nested for flag in part_flags]


def _never(part: Any) -> bool:
    return False


def _parts(structure: Any) -> list[Any] | None:
    """What a structure holds, in flattening order; None for a value that is no structure."""
    if not tf.nest.is_nested(structure):
        return None
    return [structure[key] for key in sorted(structure)] if isinstance(structure, dict) else list(structure)
