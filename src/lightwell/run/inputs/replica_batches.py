"""One batch of `input_fn` for each replica and step, in order.

Takes what `input_fn` returned; returns the `Inputs` and one `ReplicaBatch` for each replica. A step of training takes
as many batches as there are replicas, or ends the training; where other processes must know, it announces that one step
before. The last step of an evaluation takes what is left: a replica without a batch repeats that of another, and its
`is_own` is false.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.callables import name_of
from lightwell.base.keys import ModeKeys
from lightwell.errors import InputFnError
from lightwell.run.inputs.input_state import InputState
from lightwell.run.inputs.lookahead import LookaheadIterator
from lightwell.run.inputs.unpack import Inputs, unpack_element


@dataclass(frozen=True, eq=False)
class ReplicaBatch:
    """The batch of one replica.

    Attributes:
        features: a structure of tensors.
        labels: likewise, or None.
        is_own: a tensor, whether the batch is the replica's own; None where it always is.
        is_last: a tensor, whether no step can follow; None where that is not needed, or one always can.
    """

    features: Any
    labels: Any
    is_own: Any = None
    is_last: Any = None


def replica_batches_of(
    result: Any, input_fn: Callable[..., Any], mode: str, state: InputState, count: int, announces_end: bool = False
) -> tuple[Inputs, tuple[ReplicaBatch, ...]]:
    """Turns `input_fn`'s result into the batches of `count` replicas; must run in the graph that it belongs to.

    Args:
        result: what `input_fn` returned.
        input_fn: the function, for errors.
        mode: a `ModeKeys` value.
        state: the arrays and iterators of the call.
        count: how many batches.
        announces_end: whether the last step of training must know that it is the last.

    Raises:
        InputFnError: the result is no dataset, or one of a form that holds no batch.
    """
    if not isinstance(result, tf.data.Dataset):
        raise InputFnError(
            f"input_fn {name_of(input_fn)!r} (mode {mode!r}) returned {type(result).__name__}; under a distribution "
            f"strategy it must return a tf.data.Dataset, of which each of the {count} replicas takes a batch of its "
            "own. Make one: tf.data.Dataset.from_tensor_slices((features, labels)).batch(32)."
        )
    first, iterator = unpack_element(result, input_fn, mode, state, ahead=count if announces_end else 0)
    pairs = [(first.features, first.labels)]
    batches = _in_whole_steps(iterator, pairs, count) if mode == ModeKeys.TRAIN else _to_the_end(iterator, pairs, count)
    return dataclasses.replace(first, features=batches[0].features, labels=batches[0].labels), tuple(batches)


def _in_whole_steps(iterator: Any, pairs: list[Any], count: int) -> list[ReplicaBatch]:
    """Batches such that no replica begins before all have one: a part of a step cannot be undone."""
    while len(pairs) < count:
        with tf.control_dependencies(_tensors(pairs[-1])):
            pairs.append(_pair(iterator.get_next(), pairs[0]))
    is_last = tf.logical_not(iterator.is_more) if isinstance(iterator, LookaheadIterator) else None
    if count == 1:
        ((features, labels),) = pairs
        return [ReplicaBatch(features, labels, is_last=is_last)]
    with tf.control_dependencies([tensor for pair in pairs for tensor in _tensors(pair)]):
        return [ReplicaBatch(_identity(features), _identity(labels), is_last=is_last) for features, labels in pairs]


def _to_the_end(iterator: Any, pairs: list[Any], count: int) -> list[ReplicaBatch]:
    batches = [ReplicaBatch(pairs[0][0], pairs[0][1])]
    last = _tensors(pairs[0])
    while len(batches) < count:
        with tf.control_dependencies(last):
            optional = iterator.get_next_as_optional()
            is_own = optional.has_value()
        element = tf.cond(is_own, lambda it=optional: _flat(it.get_value(), pairs[0]), lambda: _tensors(pairs[0]))
        features, labels = _packed(element, pairs[0])
        batches.append(ReplicaBatch(features, labels, is_own))
        last = [is_own]
    return batches


def _pair(element: Any, like: Any) -> Any:
    """An element as (features, labels), split as the first one was."""
    has_labels = isinstance(element, tuple | list)
    return tuple(element) if has_labels and like[1] is not None else ((element[0] if has_labels else element), None)


def _tensors(pair: Any) -> list[Any]:
    return [one for one in tf.nest.flatten(pair, expand_composites=True) if one is not None]


def _flat(element: Any, like: Any) -> list[Any]:
    return _tensors(_pair(element, like))


def _packed(tensors: Any, like: Any) -> Any:
    left = iter(tensors if isinstance(tensors, list | tuple) else [tensors])
    places = tf.nest.flatten(like, expand_composites=True)
    filled = [None if place is None else next(left) for place in places]
    return tf.nest.pack_sequence_as(like, filled, expand_composites=True)


def _identity(values: Any) -> Any:
    return None if values is None else tf.nest.map_structure(tf.identity, values, expand_composites=True)
